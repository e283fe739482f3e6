"""Our own look: a calm dark theme. Every colour on the screen is one of its variables."""

from __future__ import annotations

from textual.theme import Theme

SPECTTUI_DARK = Theme(
    name="specttui-dark",
    primary="#5fafff",
    secondary="#5fd7af",
    accent="#ffaf5f",
    success="#87d787",
    warning="#ffd75f",
    error="#ff6b6b",
    foreground="#dadada",
    background="#121417",
    surface="#1a1d21",
    panel="#262b31",
    dark=True,
    variables={
        "footer-key-foreground": "#ffaf5f",
        "border-blurred": "#3a4149",
        "foreground-muted": "#9099a3",
        "foreground-disabled": "#5c656e",
        "scrollbar": "#3a4149",
        "scrollbar-background": "#121417",
        "scrollbar-background-hover": "#121417",
        "scrollbar-background-active": "#121417",
    },
)
