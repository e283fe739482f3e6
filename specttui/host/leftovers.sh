# What sessions left on this host, and clearing it away. session_step.sh goes before this.

# list: all that sessions left on this host, as far as our cache folder knows: around every guarded file (each
# begins with `resolved`), and in the folder itself. PATH is not used.
step_list() {
  for entry in "$cache/files"/* "$cache/locks"/*; do
    name=${entry##*/}
    printf '%s\n' "${name%%.*}"
  done | grep -x '[0-9a-f]\{64\}' | sort -u | while read -r key; do
    lock=$cache/locks/$key
    path_of_key
    say_around
  done
  for thing in "$cache"/hook-* "$cache"/probe-*.json "$cache"/launch-*.sh; do
    [ -e "$thing" ] || continue
    case $thing in *.sh) if runs "${thing%.sh}.pid"; then continue; fi ;; esac
    say thing "$thing"; say thing_mtime_s "$(mtime_of "$thing")"
  done
  say now_s "$(date +%s)"
}

# path_of_key: the file that a lock or a record is about; empty if neither says.
path_of_key() {
  real=
  for record in "$lock/taken" "$cache/files/$key".*; do
    [ -r "$record" ] || continue
    text=$(cat -- "$record" && printf .)
    text=${text%.}
    case $record in
      *.new) continue ;;
      */taken) real=${text#*"$line_end"} ;;
      *) real=${text#*"$line_end"path=} ;;
    esac
    return 0
  done
}

# runs FILE: whether the process that a launch noted is there, or another one of its number.
runs() {
  noted=$(cat -- "$1" 2>/dev/null) || return 1
  case $noted in '' | *[!0-9]*) return 1 ;; esac
  [ -d "/proc/$noted" ]
}

# clear OF: take away what the session OF left in our cache folder: a hook's folder, a control file, the files of
# a launch that does not run (its log stays), or a lock.
step_clear() {
  locate
  own=$(readlink -fn -- "$cache")
  name=${real#"$own"/}
  case $name in
    locks/*/*) fail step "$real" ;;
    locks/*)
      lock=$own/$name
      lock_state
      if [ "$take_over" != yes ] && lives; then refuse_lock; fi
      rm -rf -- "$lock"
      return 0
      ;;
    */*) fail step "$real" ;;
    hook-* | probe-*.json | launch-*.sh) ;;
    *) fail step "$real" ;;
  esac
  if [ "$take_over" != yes ] && [ "$1" != "$session" ]; then refuse_if_lives "$1"; fi
  take_lock
  case $name in
    launch-*.sh)
      base=${real%.sh}
      if ! runs "$base.pid"; then rm -f -- "$real" "$base.env" "$base.pid" "$base.exit"; fi
      ;;
    *) rm -rf -- "$real" ;;
  esac
  release
}

# refuse_if_lives SESSION: a session that shows signs of life at any lock still uses what is its own.
refuse_if_lives() {
  of_thing=$lock
  for lock in "$cache/locks"/*; do
    case ${lock##*/} in *.*) continue ;; esac # being moved away
    [ -r "$lock/owner" ] || continue
    lock_state
    # A session on several hosts numbers its launches.
    case $1 in "$owner" | "$owner"-*) if lives; then refuse_lock; fi ;; esac
  done
  lock=$of_thing
}

case $step in
  list | clear) "step_$step" "$@" ;;
  *) fail step "$step" ;;
esac
exit 0
