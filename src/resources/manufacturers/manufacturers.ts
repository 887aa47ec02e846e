import { defineResource } from '../../engine/definition/define.ts'
import { manufacturerKinds } from '../../engine/definition/event-kinds.ts'
import { date, integer, text } from '../../engine/definition/fields.ts'
import { containing } from '../../engine/definition/filters.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'

const ofManufacturer = { column: 'manufacturerId' }

/** Manufacturers (rest-resources §5). */
export const manufacturers = defineResource({
  service: 'Manufacturers',
  typeName: 'Manufacturer',
  maxRecords: 500,
  fields: {
    ManufacturerID: integer({ column: 'id', access: 'key' }),
    ManufacturerName: text(50, { column: 'name', required: true }),
    Logo: text(255, { isImage: true }),
    Sorting: integer(),
    Header: text(),
    Website: text(50),
    UserID: text(50, { column: 'updatedBy', access: 'ro' }),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    PageTitle: text(150),
    MetaTags: text(),
    RedirectURL: text(255),
    FileName: text(255),
  },
  filters: { manufacturer: containing('name') },
  subResources: { Products: productsBy(ofManufacturer) },
  events: manufacturerKinds,
  isFinalOnceWritten: true,
  referrers: [clearedInProducts('ManufacturerID', ofManufacturer)],
})
