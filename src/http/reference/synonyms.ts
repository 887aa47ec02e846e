// What people of the field call things that these pages name otherwise. All small letters.

/** Words for one thing: each finds the others. */
const groups: readonly (readonly string[])[] = [
  ['create', 'add', 'insert', 'new', 'place'],
  ['update', 'change', 'edit', 'modify'],
  ['delete', 'remove'],
  ['pagination', 'paging', 'pages of lists', 'cursor'],
  ['inventory', 'stock'],
  ['vendor', 'supplier', 'distributor'],
  ['brand', 'manufacturer'],
  ['return', 'rma'],
  [
    'deprecation',
    'deprecated',
    'sunset',
    'breaking change',
    'versioning',
    'stability',
    'stable',
    'compatibility',
    'policy',
  ],
  ['sandbox', 'test mode', 'test store', 'test stores', 'staging'],
  ['checkout', 'buy', 'purchase'],
  ['till', 'pos', 'cash register'],
  ['api key', 'api keys', 'api token', 'credentials', 'private key', 'privatekey'],
]

/** What else a word or a pair of words finds. */
const more: Readonly<Record<string, readonly string[]>> = {
  'error code': ['code of an error', 'errors', 'status'],
  'error codes': ['code of an error', 'errors', 'status'],
  'sales price': ['sale price'],
  price: ['sale price'],
  cancel: ['order status', 'orderstatusid'],
  invoice: ['order'],
  refund: ['payment', 'return'],
  tracking: ['shipment'],
  barcode: ['gtin', 'upc'],
  login: ['sign in', 'oauth', 'keys'],
  authentication: ['keys', 'oauth'],
  'api version': ['policy', 'v2'],
  breaking: ['breaking change', 'deprecated', 'policy'],
  'per hour': ['an hour'],
  rounding: ['rounded'],
  'rate limit': ['limits', 'throttle', '429'],
}

/** Returns the other words for a word or a pair of words. */
export function synonymsOf(words: string): readonly string[] {
  const ofGroup = groups.find((group) => group.includes(words)) ?? []
  return [...ofGroup.filter((word) => word !== words), ...(more[words] ?? [])]
}

/** Whether a pair of words is one thing of the table. */
export function isPhrase(words: string): boolean {
  return synonymsOf(words).length > 0
}
