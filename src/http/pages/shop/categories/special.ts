import { t } from '../../../../foundation/texts/text.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import { serviceOf } from '../../records/services.ts'

/** The page of a category shows where it lies in the tree. */
export const categoryService = serviceOf(categories, {
  template: '/pages/shop/categories/place',
  read: async (caller, { CategoryID }) => {
    const [path] = await readCategoryPaths(caller, [Number(CategoryID)])
    return { above: path?.steps.slice(0, -1) ?? [] }
  },
  listLinks: [{ address: '/admin/categories/tree', text: t('Show as a tree') }],
})
