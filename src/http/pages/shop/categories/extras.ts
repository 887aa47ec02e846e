import { t } from '../../../../foundation/texts/text.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import type { Extras } from '../../records/extras.ts'

/** The page of a category shows where it lies in the tree. */
export const categoryExtras: Extras = {
  template: '/pages/shop/categories/place',
  partsTemplate: null,
  read: async (caller, { CategoryID }) => {
    const [path] = await readCategoryPaths(caller, [Number(CategoryID)])
    return { above: path?.steps.slice(0, -1) ?? [] }
  },
  sections: [],
  referrers: [],
  listLinks: [{ address: '/admin/categories/tree', text: t('Show as a tree') }],
  isHidden: () => false,
  technical: [],
  selection: null,
}
