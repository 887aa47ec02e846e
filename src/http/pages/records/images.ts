import type { Caller } from '../../../engine/caller.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { pictureHere } from '../../../operations/sandbox/pictures.ts'
import { thumbnailIn, thumbnailsAt } from '../../../shop/pictures/pictures.ts'
import type { Wire } from '../frame/pages.ts'
import type { Parts, Service } from './services.ts'
import { itemsIn } from './values.ts'

/** Images, and fetches of them, that a page tells of. */
export const IMAGES_MAX = 200
/** The policy of a page is a header. */
const ORIGINS_MAX = 20

type Reader = Pick<Caller, 'db' | 'store'>

/** The images that a record names, as far as a page may show them. A relative address lies in the shop; pictures that the store uploaded or had fetched, and those of the sandbox, which has no shop, on this server. */
export async function imagesOf(service: Service, record: Wire, { db, store }: Reader) {
  const texts = [...new Set(textsOf(service, record))].slice(0, IMAGES_MAX)
  /** By the address as it is stored: the address to load. */
  const addresses = await imagesHere(texts, { db, store })
  const others = texts.filter((text) => !addresses.has(text))
  const origins = originsOf(others, store.secureUrl)
  for (const text of others) {
    const url = addressOf(text, store.secureUrl)
    if (url !== null && origins.includes(url.origin)) addresses.set(text, url.href)
  }
  return { addresses, origins }
}

/** The first image of the record of each row, as far as this server has it: others are as large as a shop has them. Null: such records have none. */
export async function firstImages(service: Service, rows: readonly { readonly record: Wire }[], reader: Reader) {
  if (!hasImages(service)) return null
  const texts = rows.map(({ record }) => textsOf(service, record)[0] ?? '')
  const here = await imagesHere(texts, reader)
  return texts.map((text) => here.get(text) ?? null)
}

/** The addresses on this server of pictures that the store uploaded, of those of the sandbox and of the former shop, by the texts that name them. */
export async function imagesHere(texts: readonly string[], { db, store }: Reader): Promise<Map<string, string>> {
  const here = new Map<string, string>()
  for (const text of texts) {
    const url = addressOf(text, store.secureUrl)
    const found = url && (thumbnailIn(url.pathname, store.id) ?? pictureHere(url))
    if (found !== null) here.set(text, found)
  }
  const others = texts.filter((text) => text !== '' && !here.has(text))
  return new Map([...here, ...(await thumbnailsAt({ db, store }, others))])
}

function hasImages({ values, lists }: Parts): boolean {
  return values.some(({ field }) => field.isImage) || lists.some(hasImages)
}

/** The origins from which a page may load images at these addresses, at most 20. */
export function originsOf(addresses: readonly string[], secureUrl: string): string[] {
  const urls = addresses.slice(0, IMAGES_MAX).flatMap((address) => addressOf(address, secureUrl) ?? [])
  return [...new Set(urls.map(({ origin }) => origin))].slice(0, ORIGINS_MAX)
}

function textsOf({ values, lists }: Parts, record: Wire): string[] {
  const own = values
    .filter(({ field }) => field.isImage)
    .map(({ path }) => String(valueIn(record, path) ?? '').trim())
    .filter((text) => text !== '')
  return [...own, ...lists.flatMap((list) => itemsIn(record, list).flatMap((item) => textsOf(list, item)))]
}

/** Null: no address that a page may load. The host is checked because URLs may have hosts that end a policy's directive. */
function addressOf(text: string, secureUrl: string): URL | null {
  const url = URL.parse(text, `${secureUrl}/`)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  const isPlain = /^([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/.test(url.host)
  return isPlain && url.username === '' && url.password === '' ? url : null
}
