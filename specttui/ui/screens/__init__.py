"""The screens and dialogs."""
