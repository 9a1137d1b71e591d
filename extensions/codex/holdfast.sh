#!/bin/sh
# Starts the Holdfast of this machine for a plugin, which knows none of its paths: `hook CALLER` or `relay`.
#
# It never harms: it exits 0 and says nothing on stderr. Where `holdfast setup` connected the same program, it
# leaves the work to what setup installed. Where Holdfast is not installed, it says so once, and has no tools.

exec 2>/dev/null
home=${HOLDFAST_HOME:-$HOME/.holdfast}

harness=codex
hook_variables=CODEX_HOME
quiet_events=Stop,PostCompact,SessionEnd,Interrupt
tool_variables=-
data="$PLUGIN_DATA"
notice='{"systemMessage": "Holdfast is not installed, so its plugin does nothing: run `uv tool install holdfast`."}'
hooks_are_set_up() { grep -qs -F "__import__('hook').main(p)" "${CODEX_HOME:-$HOME/.codex}/hooks.json" "$(above .codex/hooks.json)"; }
tools_are_set_up() { false; }

# Prints the path of this file in the current folder or the next above it that has one.
above() {
    folder=$PWD
    while [ "$folder" ] && ! [ -f "$folder/$1" ]; do
        folder=${folder%/*}
    done
    printf '%s\n' "$folder/$1"
}

# Finds the Python that runs Holdfast's programs.
find_python() {
    python=
    [ -f "$home/bin/$1.py" ] && read -r python <"$home/bin/interpreter"
    [ -x "$python" ]
}

# Has an installed Holdfast put its programs into its home, which is needed once.
prepare() {
    for holdfast in "$(command -v holdfast)" "$HOME/.local/bin/holdfast"; do
        [ -x "$holdfast" ] && "$holdfast" plugin --prepare </dev/null >/dev/null && return
    done
}

is_installed() {
    find_python "$1" || { prepare && find_python "$1"; }
}

run_hook() {
    "$python" -I -S -c "import os,sys;p=sys.argv.pop(1);sys.path.append(os.path.dirname(p));__import__('hook').main(p)" \
        "$home/bin/hook.py" "$harness" "$hook_variables" "$quiet_events" "$1"
}

# One string of a JSON object, with its quotes; or a number.
field() {
    printf '%s\n' "$line" | sed -n -e "s/.*\"$1\" *: *\(\"[^\"]*\"\).*/\1/p" -e "s/.*\"$1\" *: *\([0-9][0-9]*\).*/\1/p"
}

# Speaks MCP as a server that has no tools: some programs wait for an answer before they do anything.
serve_no_tools() {
    while IFS= read -r line; do
        id=$(field id)
        case $line in
        *'"initialize"'*)
            result="{\"protocolVersion\":$(field protocolVersion),\"capabilities\":{},\"serverInfo\":{\"name\":\"holdfast\",\"version\":\"off\"}}"
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            ;;
        *)
            [ "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Holdfast has no tools here"}}\n' "$id"
            ;;
        esac
    done
}

off() {
    [ "$HOLDFAST_DISABLE" = 1 ] || [ "$HOLDFAST_INTERNAL" = 1 ]
}

case $1 in
hook)
    if off || hooks_are_set_up; then
        :
    elif is_installed hook; then
        run_hook "$2"
    elif mkdir -p "$data" && mkdir "$data/holdfast-is-missing"; then
        printf '%s\n' "$notice"
    fi
    ;;
relay)
    if ! off && ! tools_are_set_up && is_installed relay; then
        exec "$python" -I -S "$home/bin/relay.py" "$harness" "$tool_variables"
    fi
    serve_no_tools
    ;;
esac
exit 0
