#!/bin/sh
# What a container of Ragstone does, in /data, which is kept.
#
# Without a command: reads the documents, makes an administrator's key if there is no key yet, and serves. With one, that
# command of ragstone: `worker documents --every 1h`, `status`. A second start finds what the first one made.
#
#   DOCUMENTS   what to read first: files and folders, apart by spaces; nothing where it is empty
#   TLS         yes: serve encrypted, with a certificate that is made at the first start or that the settings name
#
# All other settings are those of Ragstone, such as RAGSTONE_SERVE__PORT.
set -eu
umask 077

if [ "$#" -gt 0 ]; then
    exec ragstone "$@"
fi

# The shell is process 1 as long as there is no server: what should end the container must reach what it waits for.
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
        2) exit 2 ;; # what is asked for is wrong, and would be for the server
        *) echo "the documents could not be read; what is stored already is served" >&2 ;;
    esac
fi

# The key is shown nowhere: it lies in a file that only this user can read. Who has taken it may remove the file; as
# long as there is any key, none is made.
keys=$(ragstone key list --json 2>/dev/null | tr -d ' \n')
if [ -z "$keys" ] || [ "$keys" = '{"keys":[]}' ]; then
    ragstone key make administrator --scope admin >admin-key.new
    mv admin-key.new admin-key
    echo "an administrator's key was made; it is in the file admin-key of the data volume" >&2
fi

if [ "${TLS:-no}" = yes ]; then
    exec ragstone serve --tls
fi
exec ragstone serve
