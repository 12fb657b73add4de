#!/bin/sh
# The entrypoint of Ragstone's container. The working directory is the volume /data.
#
# Without a command, read the documents, make an administrator's key if there is no key, and serve. With a command, such
# as `worker documents --every 1h` or `status`, run it.
#
#   DOCUMENTS   files and folders to read first, separated by spaces; may be empty
#   TLS         yes: encrypt connections, with the certificate of the settings or a self-signed one
#
# All other variables are settings of Ragstone, such as RAGSTONE_SERVE__PORT.
set -eu
umask 077

if [ "$#" -gt 0 ]; then
    exec ragstone "$@"
fi

# The shell is process 1 until the server starts, so it has to pass signals on to its child.
run() {
    "$@" &
    child=$!
    trap 'kill -TERM "$child" 2>/dev/null; wait "$child"; exit 143' TERM INT
    status=0
    wait "$child" || status=$?
    trap - TERM INT
    return "$status"
}

if [ -n "${DOCUMENTS:-}" ]; then
    status=0
    # shellcheck disable=SC2086  # several sources, one word each
    run ragstone sync --wait 60 -- $DOCUMENTS || status=$?
    case $status in
        0) ;;
        2) exit 2 ;; # a usage error, which the server would report too
        *) echo "some documents could not be read; serving the stored ones" >&2 ;;
    esac
fi

# The key goes into a file that only this user can read, and into no log. The file may be deleted afterwards; no other
# key is made while there is one.
keys=$(ragstone key list --json 2>/dev/null | tr -d ' \n')
if [ -z "$keys" ] || [ "$keys" = '{"keys":[]}' ]; then
    ragstone key make administrator --create --scope admin >admin-key.new
    mv admin-key.new admin-key
    echo "an administrator's key was made: see the file admin-key in the data volume" >&2
fi

if [ "${TLS:-no}" = yes ]; then
    exec ragstone serve --create --tls
fi
exec ragstone serve --create
