import { boolean, decimal, integer, list, money, text } from '../engine/definition/fields.ts'

/** The option sets of a product or category (rest-resources §1.4). */
export const optionSetList = list('OptionSet', {
  OptionSetID: integer({ access: 'key' }),
  OptionSetName: text(255),
  OptionSorting: decimal(),
  OptionRequired: boolean(),
  OptionType: text(10),
  OptionURL: text(),
  OptionAdditionalInformation: text(),
  OptionSizeLimit: integer(),
  OptionList: list('Options', {
    OptionID: integer({ access: 'key' }),
    OptionName: text(255),
    OptionSelected: boolean(),
    OptionHide: boolean(),
    OptionValue: money(),
    OptionPartNumber: text(50),
    OptionSorting: decimal(),
    OptionImagePath: text(255, { isImage: true }),
    /** The product bundled with the option; 0: none. */
    OptionBundleCatalogId: integer({ min: 0 }),
    OptionBundleQuantity: integer(),
  }),
})
