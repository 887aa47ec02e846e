import type { DescribedOperation } from './operations.ts'
import { shapeOf } from './search.ts'

/** Returns a function that makes links of the operations which HTML names in code, such as `GET /Orders`, unless they are links already. */
export function operationLinks(operations: readonly DescribedOperation[]): (html: string) => string {
  const addresses = new Map(operations.map(({ method, path, address }) => [`${method} ${shapeOf(path)}`, address]))
  return (html) =>
    html.replace(/(?<!">)<code>(GET|POST|PUT|DELETE) (\/[^\s<]+)<\/code>/g, (code, method, path) => {
      const address = addresses.get(`${method} ${shapeOf(path)}`)
      return address === undefined ? code : `<a href="${address}">${code}</a>`
    })
}
