#!/bin/sh
# The health check of the image: succeeds if the server answers, over TLS if it was started with that.
#   health.sh [PORT]
port=${1:-7878}
if grep -q -e --tls /proc/1/cmdline; then
    printf 'GET /healthz HTTP/1.0\r\n\r\n' | openssl s_client -quiet -connect "127.0.0.1:$port" 2>/dev/null | grep -q '^ok'
else
    wget -qO /dev/null "http://127.0.0.1:$port/healthz"
fi
