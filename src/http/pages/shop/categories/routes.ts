import type { FastifyInstance } from 'fastify'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import {
  type CategoryNode,
  countProducts,
  readCategoryPaths,
  readTree,
} from '../../../../shop/resources/categories/tree.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, textIn } from '../../../html/request.ts'
import { type PageRequest, storePages } from '../../frame/pages.ts'
import { serviceOf } from '../../records/services.ts'
import { productsOf } from '../products/products-of.ts'

const CATEGORIES_SHOWN = 2_000
/** Of a larger tree, no products are counted: each category costs a look into the index. */
const COUNTED_CATEGORIES_MAX = 500
const COUNTED_PRODUCTS_MAX = 100

/** The page of a category shows where it lies in the tree, and leads to its products. */
export const categoryService = serviceOf(categories, {
  template: '/pages/shop/categories/place',
  read: async (caller, { CategoryID }) => {
    const id = Number(CategoryID)
    const [[path], found] = await Promise.all([readCategoryPaths(caller, [id]), productsOf(caller, 'categoryid', id)])
    return { above: path?.steps.slice(0, -1) ?? [], ...found }
  },
  listLinks: '/pages/shop/categories/list-links',
})

export function categoryPages(app: FastifyInstance, services: CallerServices): void {
  storePages(adminPages(app, ['Category', 'read']), services).page('/admin/categories/tree', treePage)
}

/** The tree of a store's categories, or of those below one. */
async function treePage({ caller, query }: PageRequest): Promise<HtmlPage> {
  const below = belowIn(query)
  const [[path], tree] = await Promise.all([
    readCategoryPaths(caller, below === null ? [] : [below]),
    readTree(caller, below, CATEGORIES_SHOWN),
  ])
  if (below !== null && path === undefined) throw new StoreFailure('not-found', `There is no category ${below}`)
  const isCounted = tree.size <= COUNTED_CATEGORIES_MAX
  const counts = isCounted ? await countProducts(caller, idsIn(tree.nodes), COUNTED_PRODUCTS_MAX) : new Map()
  return {
    template: '/pages/shop/categories/tree',
    title:
      path === undefined
        ? t('Categories as a tree')
        : t('Categories below {category}', { category: path.steps.at(-1)?.name ?? '' }),
    data: { tree, counts, countedMax: COUNTED_PRODUCTS_MAX, steps: path?.steps ?? [], below },
  }
}

/** The category whose children the address asks for; null: the top level. */
function belowIn(query: unknown): number | null {
  const text = textIn(query, 'below')
  if (text === '') return null
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= INT32_MAX) return Number(text)
  throw new StoreFailure('not-found', `There is no category "${text.slice(0, 20)}"`)
}

/** The categories of a tree, each below its parent, with how deep it lies. */
export function allIn(nodes: readonly CategoryNode[], depth = 0): (CategoryNode & { readonly depth: number })[] {
  return nodes.flatMap((node) => [{ ...node, depth }, ...allIn(node.children, depth + 1)])
}

export function idsIn(nodes: readonly CategoryNode[]): number[] {
  return allIn(nodes).map(({ id }) => id)
}
