import { harmless } from '../../../access/mail/render.ts'
import { normaliseHost } from '../../../access/stores/secure-url.ts'
import { type Db, queryRows } from '../../../foundation/database/client.ts'
import { UNSEEN } from '../../../foundation/values/input.ts'

/** Whether mail programs would make a link to a foreign host of a word. */
export type IsForeign = (word: string) => boolean

/** `http://shop.example/` with an end of the host that no two programs read differently: no user, no backslash. */
const WEB = /^https?:\/\/([\p{L}\p{N}.-]+)(?::\d+)?(?:[/?#]|$)/iu
/** `shop.example`, and the host of `ann@shop.example`; but neither `z.B.` nor `1.5`. */
const BARE = /(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}/gu

/** Texts of a store may link to its own hosts, that of this server, and those of its carriers. */
export async function readForeign(db: Db, storeId: number, publicUrl: string): Promise<IsForeign> {
  const rows = await queryRows<{ address: string }>(db)`
    SELECT "host" AS "address" FROM "StoreHost" WHERE "storeId" = ${storeId}::int
    UNION ALL SELECT "trackingUrl" FROM "Carrier" WHERE "storeId" = ${storeId}::int`
  const hosts = new Set([publicUrl, ...rows.map(({ address }) => address)].map(normaliseHost))
  const isOurs = (host = '') => host !== '' && hosts.has(normaliseHost(host))
  return (word) => {
    const plain = word
      .normalize('NFKC')
      .replaceAll(UNSEEN, '')
      .replaceAll(/[\u3002\uff61]/gu, '.')
    const at = plain.search(/[a-z][a-z\d+.-]*:\/\//i)
    const [before, link] = at === -1 ? [plain, null] : [plain.slice(0, at), plain.slice(at)]
    const isLinkOurs = link === null || isOurs(WEB.exec(link.replace(/[^\p{L}\p{N}/]+$/u, ''))?.[1])
    return !isLinkOurs || !(before.match(BARE) ?? []).every((host) => isOurs(host))
  }
}

/** The text with a blank in each link to a foreign host. */
export function withoutLinks(text: string, isForeign: IsForeign): string {
  return text.replaceAll(/\S+/g, (word) => (isForeign(word) ? harmless(word) : word))
}
