# The first five products, and the headers of the answer.
curl -sS -i --fail-with-body "$API/Products?limit=5&\$select=SKUInfo" \
  -H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN"
