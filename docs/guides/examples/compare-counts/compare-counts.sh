# How many records each service has, there and here.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
for service in Products Orders Customers Category Manufacturers Distributors; do
  echo "$service $(curl -sS "$OLD_API/$service?countonly=1" "${keys[@]}") $(curl -sS "$API/$service?countonly=1" "${keys[@]}")"
done
