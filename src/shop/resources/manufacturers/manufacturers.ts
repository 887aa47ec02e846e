import { forEachChange } from '../../../engine/changing/change.ts'
import { defineResource } from '../../../engine/definition/define.ts'
import { manufacturerKinds } from '../../../engine/definition/event-kinds.ts'
import { LONG_TEXT, text } from '../../../engine/definition/fields.ts'
import { containing } from '../../../engine/definition/filters.ts'
import { fetchFrom, queueFetches } from '../../pictures/fetches.ts'
import { changed, imagePath, lastChange, lastEditor, position, recordNumber } from '../common-fields.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'
import explains from './explains.json' with { type: 'json' }

const ofManufacturer = { column: 'manufacturerId' }

/** Manufacturers (rest-resources §5). */
export const manufacturers = defineResource({
  service: 'Manufacturers',
  typeName: 'Manufacturer',
  description: 'A company that makes products, or their brand.',
  maxRecords: 500,
  pictureIn: 'Logo',
  fields: {
    ManufacturerID: recordNumber('Manufacturer number', 'The number of the manufacturer, by which products name it.'),
    ManufacturerName: text(50, {
      column: 'name',
      required: true,
      description: 'The name of the manufacturer, which its products show. cartAPI refers to manufacturers by it.',
    }),
    Logo: imagePath(255, 'A picture of the manufacturer’s logo'),
    FetchFrom: fetchFrom('Logo', 255),
    Sorting: position('the manufacturer among others', 'Lower numbers come first'),
    Header: text(LONG_TEXT, {
      isHtml: true,
      label: 'Text at the top',
      description: 'HTML at the beginning of the manufacturer’s page in the storefront.',
    }),
    Website: text(50, { description: 'The address of the manufacturer’s own site.' }),
    UserID: lastEditor('the manufacturer'),
    LastUpdate: lastChange('The time of the last change of the manufacturer. Changes to its products do not count.'),
    PageTitle: text(150, { description: 'The title of the manufacturer’s page, for browsers and search engines.' }),
    MetaTags: text(LONG_TEXT, {
      description: 'HTML for the head of the manufacturer’s page, such as a description for search engines.',
    }),
    RedirectURL: text(255, {
      label: 'Redirect to',
      description: 'The address to which the storefront sends visitors of the manufacturer’s page.',
    }),
    FileName: text(255, {
      label: 'File name of the page',
      description: 'The last part of the address of the manufacturer’s page in the storefront.',
    }),
  },
  filters: { manufacturer: containing('name'), ...changed },
  subResources: { Products: productsBy(ofManufacturer) },
  rules: {
    events: manufacturerKinds,
    isFinalOnceWritten: true,
    check: (changes) => forEachChange(changes, queueFetches),
    referrers: [clearedInProducts('ManufacturerID', ofManufacturer)],
  },
  pages: { groups: { 'Name and logo': 'ManufacturerID', 'Manufacturer page': 'PageTitle' }, explains },
})
