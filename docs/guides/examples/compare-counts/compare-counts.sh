# How many records each service has, there and here.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
count() { curl -sS --fail-with-body "$1?countonly=1" "${keys[@]}"; }
for service in Products Orders Customers Category Manufacturers Distributors; do
  there=$(count "$OLD_API/$service") || { echo "$there" >&2; exit 1; }
  here=$(count "$API/$service") || { echo "$here" >&2; exit 1; }
  echo "$service $there $here"
done
