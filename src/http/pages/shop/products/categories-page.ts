import type { Caller } from '../../../../engine/caller.ts'
import { listOrdered } from '../../../../engine/reading/read.ts'
import { sql } from '../../../../foundation/database/sql.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import {
  type CategoryPath,
  type CategoryTree,
  readCategoryPaths,
  readTree,
} from '../../../../shop/resources/categories/tree.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { Sent } from '../../frame/pages.ts'
import { FIELDS_MAX, saveChanges } from '../../records/edit-page.ts'
import type { Changes } from '../../records/form.ts'
import { idsIn } from '../categories/routes.ts'
import { type ProductRequest, productService } from './special.ts'

const CHOSEN_MAX = 500
const TREE_SHOWN = FIELDS_MAX - CHOSEN_MAX - 100
const FOUND_SHOWN = 100
const FIND_LENGTH_MAX = 150

/** The categories of a product as boxes to tick: those of the tree, or those that a search has found, and the others that are chosen. */
export async function categoriesPage({ caller, id, record, typed, isOutdated }: ProductRequest): Promise<HtmlPage> {
  const stored = record.CategoryList.map(({ CategoryID }) => CategoryID)
  const chosen = typed === null || isOutdated ? stored : tickedIn(typed)
  const find = textIn(typed, 'Find').trim().slice(0, FIND_LENGTH_MAX)
  const { tree, found, isMore } = await offered(caller, find)
  const shown = new Set([...idsIn(tree?.nodes ?? []), ...found.map((path) => path.id)])
  const others = chosen.filter((each) => !shown.has(each))
  const address = `/admin/products/${id}/categories`
  return {
    template: '/pages/shop/products/categories',
    title: t('Categories of {product}', { product: record.SKUInfo.Name }),
    values: { Find: find },
    data: {
      address,
      isTooLong: stored.length > CHOSEN_MAX,
      chosen: new Set(chosen),
      others: await readCategoryPaths(caller, others.slice(0, CHOSEN_MAX)),
      tree,
      found,
      isMore,
      find,
      labels: { CategoryID: t('Categories') },
    },
  }
}

/** What a form offers to tick: the tree, or what a search by name finds. */
async function offered(
  caller: Caller,
  find: string,
): Promise<{ tree: CategoryTree | null; found: CategoryPath[]; isMore: boolean }> {
  if (find === '') return { tree: await readTree(caller, null, TREE_SHOWN), found: [], isMore: false }
  const order = { column: 'id', type: sql`int`, isDescending: false }
  const page = { order, behind: null, limit: FOUND_SHOWN }
  const { records, next } = await listOrdered(caller, categories, new Map([['category', find]]), page)
  const ids = records.map((json): number => JSON.parse(String(json)).CategoryID)
  return { tree: null, found: await readCategoryPaths(caller, ids), isMore: next !== null }
}

/** The categories that are ticked. */
function tickedIn({ CategoryID = [] }: Form): number[] {
  const ids = [CategoryID].flat().filter((text) => /^[1-9]\d{0,9}$/.test(text))
  return [...new Set(ids.map(Number))].filter((id) => id <= INT32_MAX)
}

export function saveCategories(asked: Sent<ProductRequest>): Promise<string> {
  const advice =
    'The form shows the categories as they are stored now. Make your changes again if they are not among them'
  return saveChanges(asked, productService, { changesIn: () => changesIn(asked), advice })
}

/** Categories that stay keep their places; new ones follow. */
function changesIn({ record, typed }: Sent<ProductRequest>): Changes {
  const stored = record.CategoryList.map(({ CategoryID }) => CategoryID)
  const ticked = new Set(tickedIn(typed))
  const added = [...ticked].filter((id) => !stored.includes(id))
  const kept = stored.filter((id) => ticked.has(id))
  const isSame = added.length === 0 && kept.length === stored.length
  const body = isSame ? {} : { CategoryList: [...kept, ...added].map((CategoryID) => ({ CategoryID })) }
  return { body, nameOf: () => 'CategoryID' }
}
