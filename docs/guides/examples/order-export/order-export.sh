# One step of the export: what happened after the event of the last step. Call it until it prints [], and again later.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
after=$(cat after.txt 2>/dev/null || echo 0) # 0: from the oldest event that is kept
curl -sS --fail-with-body "$API/Events?after=$after&limit=100" "${keys[@]}" >events.json ||
  { cat events.json >&2; exit 1; } # 410: read all orders anew
cat events.json; echo # the work: store the records of events that begin with Order or Return; Return Deleted removes one
last=$(grep -oE '"Sequence":[0-9]+' events.json | tail -1 | tr -dc 0-9)
if [ -n "$last" ]; then echo "$last" >after.new && mv after.new after.txt; fi
