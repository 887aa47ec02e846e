/**
 * The services of the contract (contract §2, §4.1; rest-resources §0.3, §0.4, §1.5, §3.8, §4 to §9, §11), written down apart from
 * the definitions: each address, with the methods that it takes.
 */
const addresses = `
/Category                                                       GET POST PUT
/Category/{categoryid}                                          GET PUT DELETE
/Category/{categoryid}/Options                                  GET POST PUT
/Category/{categoryid}/Options/{optionsetid}                    PUT
/Category/{categoryid}/Products                                 GET

/Manufacturers                                                  GET POST PUT
/Manufacturers/{manufacturerid}                                 GET PUT DELETE
/Manufacturers/{manufacturerid}/Products                        GET

/Distributors                                                   GET POST PUT
/Distributors/{distributorid}                                   GET PUT DELETE
/Distributors/{distributorid}/Products                          GET

/CustomerGroups                                                 GET POST PUT
/CustomerGroups/{groupid}                                       GET PUT DELETE
/CustomerGroups/{groupid}/Customers                             GET

/Products                                                       GET POST PUT
/Products/{catalogid}                                           GET PUT DELETE
/Products/skuinfo                                               GET
/Products/{catalogid}/skuinfo                                   GET
/Products/{catalogid}/AdvancedOptions                           GET PUT
/Products/{catalogid}/AdvancedOptions/{advancedoptioncode}      PUT
/Products/{catalogid}/Categories                                GET
/Products/{catalogid}/Discount                                  GET POST PUT
/Products/{catalogid}/Discount/{discountid}                     PUT
/Products/{catalogid}/Distributors                              GET
/Products/{catalogid}/EProducts                                 GET POST PUT
/Products/{catalogid}/EProducts/{filenumber}                    PUT
/Products/{catalogid}/Features                                  GET POST PUT
/Products/{catalogid}/Features/{featureid}                      PUT
/Products/{catalogid}/Images                                    GET POST PUT
/Products/{catalogid}/Images/{imagegalleryid}                   PUT
/Products/{catalogid}/Options                                   GET POST PUT
/Products/{catalogid}/Options/{optionsetid}                     PUT
/Products/{catalogid}/Related                                   GET POST PUT
/Products/{catalogid}/Related/{relatedindexid}                  PUT
/Products/{catalogid}/Serials                                   GET POST PUT
/Products/{catalogid}/Serials/{serialid}                        PUT
/Products/{catalogid}/UpSelling                                 GET POST PUT
/Products/{catalogid}/UpSelling/{upsellingindexid}              PUT

/Customers                                                      GET POST PUT
/Customers/{customerid}                                         GET PUT DELETE

/OrderStatus                                                    GET
/OrderStatus/{id}                                               GET

/Orders                                                         GET PUT
/Orders/{orderid}                                               GET PUT
/Orders/Sums                                                    GET
/Orders/{orderid}/Sums                                          GET
/Orders/{orderid}/Items                                         GET POST PUT
/Orders/{orderid}/Items/{itemindexid}                           PUT
/Orders/{orderid}/Shipments                                     GET POST PUT
/Orders/{orderid}/Shipments/{shipmentid}                        PUT
/Orders/{orderid}/Transactions                                  GET POST PUT
/Orders/{orderid}/Transactions/{transactionindexid}             PUT
/Orders/{orderid}/Questions                                     GET POST PUT
/Orders/{orderid}/Questions/{questionanswerindexid}             PUT

/GiftRegistries                                                 GET POST PUT
/GiftRegistries/{giftregistryid}                                GET PUT DELETE
/GiftRegistries/{giftregistryid}/Items                          GET

/RMA                                                            GET POST PUT
/RMA/{rmaid}                                                    GET PUT DELETE
/RMA/{rmaid}/Items                                              GET

/Webhooks                                                       GET POST
/Webhooks/{id}                                                  GET PUT DELETE
`

/**
 * What each method answers (contract §7; rest-resources §0.5 to §0.9; rest-protocol §4, §5.2, §6): on a list and, where the
 * contract says otherwise, on one record of it. POST meets an unknown record only where the address names one.
 */
const statuses = {
  list: {
    GET: [200, 400, 401, 404, 429],
    POST: [201, 206, 400, 401, 404, 413, 415, 429],
    PUT: [200, 206, 400, 401, 404, 413, 415, 429],
  },
  one: {
    GET: [200, 400, 401, 404, 429],
    PUT: [200, 400, 401, 404, 413, 415, 429],
    DELETE: [200, 400, 401, 404, 429],
  },
}

/** Of whatever service: plain http, another version, an address that there is not, and what browsers ask first. */
const everywhere = [
  'any /{service} 403',
  'any /{version}/{service} 404',
  'any /{service}/{id}/{name} 404',
  'OPTIONS /{service} 204',
]

/** `GET /Manufacturers 200`, and so on: all that the suite must have a test for. */
export const contractLines: readonly string[] = [...everywhere, ...addresses.trim().split(/\n+/).flatMap(linesOf)]

function linesOf(text: string): string[] {
  const [address = '', ...methods] = text.split(/ +/)
  return [...methods.flatMap((method) => linesOfMethod(method, address)), `other ${address} 405`]
}

function linesOfMethod(method: string, address: string): string[] {
  const kind = address.endsWith('}') ? 'one' : 'list'
  const codes = (statuses[kind] as Record<string, readonly number[]>)[method] ?? []
  const canBeUnknown = method !== 'POST' || address.includes('{')
  return codes.filter((code) => code !== 404 || canBeUnknown).map((code) => `${method} ${address} ${code}`)
}

/** The same as a table: a line for each method and address, with its statuses. */
export function contractText(lines: readonly string[]): string {
  const operations = new Map<string, string[]>()
  for (const line of lines) {
    const [method = '', address = '', code = ''] = line.split(' ')
    const operation = `${method.padEnd(6)} ${address}`
    operations.set(operation, [...(operations.get(operation) ?? []), code])
  }
  const rows = [...operations].map(([operation, codes]) => `${operation.padEnd(69)} ${codes.join(' ')}`)
  return `${rows.map((row, index) => (startsService(row, rows[index - 1]) ? `\n${row}` : row)).join('\n')}\n`
}

function startsService(row: string, before: string | undefined): boolean {
  return before !== undefined && serviceIn(row) !== serviceIn(before)
}

function serviceIn(row: string): string | undefined {
  return row.split(/[ /]+/)[1]?.replace(/^\{.*/, '')
}
