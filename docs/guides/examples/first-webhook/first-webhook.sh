# Adds a webhook for new orders, asks for its secret, and sends it a test.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
json='Content-Type: application/json'

curl -sS --fail-with-body -X POST "$API/Webhooks" "${keys[@]}" -H "$json" -H "Idempotency-Key: webhook-of-my-app-1" -d '{
  "Name": "New orders", "Url": "'"$RECEIVER"'", "EventType": 1, "Enabled": true, "Format": "JSON"}' >added.json
if [ $? != 0 ]; then cat added.json; exit 1; fi
id=$(sed -E 's/.*"Value":"([0-9]+)".*/\1/' added.json)

curl -sS "$API/Webhooks/$id/Secret" "${keys[@]}"; echo
curl -sS -X POST "$API/Webhooks/$id/Test" "${keys[@]}"; echo
curl -sS "$API/Webhooks/$id/Deliveries?limit=1" "${keys[@]}"; echo
