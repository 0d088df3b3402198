#!/bin/sh
# Tests an integration against the Assay at ASSAY_URL. START is your server's command; it listens at PORT.
# Needs curl and Node 20 or later.
set -eu
ASSAY_URL=${ASSAY_URL:-http://127.0.0.1:3000}
export PORT="${PORT:-4000}"
FILES=$(mktemp -d)
JSON='content-type: application/json'
trap 'kill ${LISTENER:-} ${SERVER:-} 2> /dev/null || true' EXIT

# Prints a field of an answer, or fails with what the service says.
pick() {
  node -e "
    const { data, error } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
    if (error) { console.error(error.message, error.hint); process.exit(1); }
    console.log(data.$1)"
}
post() { curl -sS "$ASSAY_URL$1" -H "authorization: Bearer $2" -H "$JSON" -d "$3"; }

# Waits for a line in a file, for a minute at most.
wait_for() {
  for _ in $(seq 300); do
    if grep -qs -e "$2" "$1"; then return 0; fi
    sleep 0.2
  done
  echo "No $2 came to $1:" >&2
  cat "$FILES"/*.log >&2
  return 1
}

# 1. The service is ready.
curl -sS --fail --retry 60 --retry-delay 1 --retry-all-errors "$ASSAY_URL/readyz" > /dev/null 2> "$FILES/ready.log"

# 2. An account, an organization with its sandbox, and a key.
NAME="ci-$(date +%s)-$$"
ACCOUNT="{\"name\":\"CI\",\"email\":\"$NAME@example.com\",\"password\":\"correct horse battery\"}"
TOKEN=$(post /v1/auth/sign-up/email none "$ACCOUNT" | pick token)
post /v1/auth/orgs "$TOKEN" "{\"name\":\"CI\",\"slug\":\"$NAME\"}" | pick slug
SCOPES='["sessions:read","sessions:write","webhooks:read","webhooks:write"]'
ASSAY_API_KEY=$(post /v1/auth/api-keys "$TOKEN" "{\"name\":\"CI\",\"scopes\":$SCOPES}" | pick key)
export ASSAY_API_KEY

# 3. Deliveries come to this machine, and your server gets the secret and the private key.
npm install --silent --no-audit --no-fund --prefix "$FILES" "$ASSAY_URL/cli.tgz"
ASSAY_STATE_DIR="$FILES/state" "$FILES/node_modules/.bin/assay" listen --url "$ASSAY_URL" --json \
  --forward-to "http://127.0.0.1:$PORT/webhooks/assay" > "$FILES/listen.jsonl" 2> "$FILES/listen.log" &
LISTENER=$!
wait_for "$FILES/listen.jsonl" '"ready"'
of_listener() { head -1 "$FILES/listen.jsonl" | node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
ASSAY_WEBHOOK_SECRETS=$(of_listener signing_secret)
ASSAY_PRIVATE_KEY=$(cat "$(of_listener private_key_file)")
export ASSAY_WEBHOOK_SECRETS ASSAY_PRIVATE_KEY
$START > "$FILES/server.log" 2>&1 &
SERVER=$!
curl -sS --retry 60 --retry-delay 1 --retry-all-errors "http://127.0.0.1:$PORT/" > /dev/null 2> "$FILES/start.log"

# 4. Each way to end that you care about: a session, a test document, and what your server must have done.
verify() {
  SESSION=$(post /v1/sessions "$ASSAY_API_KEY" "{\"client_reference_id\":\"$1\"}" | pick id)
  post /mcp "$ASSAY_API_KEY" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{
    \"name\":\"finishSandboxSession\",\"arguments\":{\"session_id\":\"$SESSION\",\"document\":\"$1\"}}}" > "$FILES/$1.log"
  wait_for "$FILES/server.log" "$2"
  echo "$1: $2"
}
verify passport-valid 'verification.session.succeeded passport-valid'
verify passport-expired 'verification.session.failed passport-expired'
