import { raiseCounter } from '../../../engine/changing/write.ts'
import type { Json, Patch } from '../../../engine/definition/input.ts'
import type { Referrer } from '../../../engine/definition/links.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Document } from '../../../engine/definition/stored-row.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { lockProducts } from './stock.ts'

// Documents of products and categories name related products, up-selling items and the bundled products of options. No
// foreign key covers them; the SQL function linkedProducts finds them through an index over those that namesProducts selects.

const related = { list: 'RelatedProductList', product: 'RelatedProductID' }
const upSelling = { list: 'UpSellingItemList', product: 'UpSellingItemID' }
const sets = 'OptionSetList'
const bundled = { list: 'OptionList', product: 'OptionBundleCatalogId' }

/** No store assigns as many ids; a wrong number in a file must not use them up. */
const KEPT_MAX = 1_000_000_000

const by = (id: number) => sql`"namesProducts"(t."details") AND "linkedProducts"(t."details") @> ARRAY[${id}::int]`
const inItems = [related, upSelling].map(({ list, product }) => `${list}.${product}`)
const inOptions = `${sets}.${bundled.list}.${bundled.product}`

/** The documents that name products. */
export const productLinks: readonly Referrer[] = [
  { table: 'Product', fields: [...inItems, inOptions], by, rule: 'clear', without: withoutProduct },
  { table: 'Category', fields: [inOptions], by, rule: 'clear', without: withoutProduct },
]

/** Removes related and up-selling items of the product; its options stay, without the bundle. */
function withoutProduct(details: Document, id: number): Document {
  const next = { ...details }
  for (const { list, product } of [related, upSelling]) {
    const items = itemsOf(details, list).filter((item) => item[product] !== id)
    if (items.length > 0) next[list] = items
    else delete next[list]
  }
  if (details[sets] !== undefined) next[sets] = itemsOf(details, sets).map((set) => withoutBundled(set, id))
  return next
}

function withoutBundled(set: Document, id: number): Document {
  if (set[bundled.list] === undefined) return set
  const options = itemsOf(set, bundled.list).map((option) => {
    const { [bundled.product]: product, ...others } = option
    return product === id ? others : option
  })
  return { ...set, [bundled.list]: options }
}

/**
 * Refuses (400) unknown products that a change adds to a document; the known ones cannot be deleted until the change is
 * stored. Does not check links stored before, because an import may have written them.
 */
export async function refuseUnknownProducts({ caller, patch, before }: Change): Promise<void> {
  if (Object.keys(patch.details).length + Object.keys(patch.lists).length === 0) return
  const named = linksIn(documentOf(patch)).filter(({ id }) => id !== undefined && id !== 0)
  if (named.length === 0) return
  const stored = new Set(linksIn((before?.row.details ?? {}) as Document).map(({ id }) => id))
  const links = named.filter(({ id }) => !stored.has(id))
  if (links.length === 0) return
  // The lock that foreign keys take.
  const ids = links.map(({ id }) => Number(id))
  const found = await lockProducts(caller, ids, sql`FOR KEY SHARE`)
  const unknown = links.find(({ id }) => !found.has(Number(id)))
  if (unknown) throw wrongField(unknown.field, 'refers to a record that does not exist', 'unknown-reference')
}

/**
 * Reserves product ids that imported documents name, so that no new product gets one: the named product may come later,
 * in another file, or never.
 */
export async function keepNamedProducts(changes: readonly Change[]): Promise<void> {
  const imported = changes.filter(({ kind }) => kind === 'import')
  const ids = imported.flatMap(({ after }) => linksIn(after.row.details as Document).map(({ id }) => Number(id ?? 0)))
  const highest = ids.reduce((most, id) => (id <= KEPT_MAX ? Math.max(most, id) : most), 0)
  const [{ caller } = {}] = imported
  if (!caller || highest === 0) return
  const [counter] = await caller.db.$queryRaw<{ value: number }[]>(sql`
    SELECT "value" FROM "Counter" WHERE "storeId" = ${caller.store.id}::int AND "name" = 'Product'`)
  // Raising it blocks new products until the import's transaction ends.
  if (highest > (counter?.value ?? 0)) await raiseCounter(caller, 'Product', highest)
}

/** Returns the products that a document names, with the paths of their ids. */
function linksIn(document: Document): { field: string; id: Json | undefined }[] {
  const inItems = ({ list, product }: typeof related, from: Document, path = '') =>
    itemsOf(from, list).map((item, index) => ({ field: `${path}${list}[${index}].${product}`, id: item[product] }))
  const inSets = itemsOf(document, sets).flatMap((set, index) => inItems(bundled, set, `${sets}[${index}].`))
  return [...inItems(related, document), ...inItems(upSelling, document), ...inSets]
}

/** The document of only the patch. */
function documentOf({ details, lists }: Patch): Document {
  const items = Object.entries(lists).map(([name, patches]) => [name, patches.map(documentOf)])
  return { ...details, ...Object.fromEntries(items) }
}

function itemsOf(document: Document, list: string): Document[] {
  return (document[list] ?? []) as Document[]
}
