# The new orders, as getOrder gave them; and one of them accepted, as updateOrderStatus did.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
curl -sS "$API/Orders?orderstatus=1&limit=100" "${keys[@]}" >orders.json
id=$(sed -E 's/^[^{]*\{[^}]*"OrderID":([0-9]+).*/\1/' orders.json)
curl -sS -X PUT "$API/Orders/$id" "${keys[@]}" -H 'Content-Type: application/json' \
  -H "Idempotency-Key: accept-$id" -d '{"OrderStatusID": 2}'
