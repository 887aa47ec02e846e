import { boolean, decimal, type Fields, integer, list, text } from '../engine/fields.ts'

/** What a shopper chooses among (rest-resources §1.4). */
const options: Fields = {
  OptionID: integer({ access: 'key' }),
  OptionName: text(255),
  OptionSelected: boolean(),
  OptionHide: boolean(),
  OptionValue: decimal(),
  OptionPartNumber: text(50),
  OptionSorting: decimal(),
  OptionImagePath: text(255),
  /** The product that the option brings along; 0: none. */
  OptionBundleCatalogId: integer({ min: 0 }),
  OptionBundleQuantity: integer(),
}

/** Sets of options; products and categories carry them. */
export const optionSetList = list(
  'OptionSet',
  {
    OptionSetID: integer({ access: 'key' }),
    OptionSetName: text(255),
    OptionSorting: decimal(),
    OptionRequired: boolean(),
    OptionType: text(10),
    OptionURL: text(),
    OptionAdditionalInformation: text(),
    OptionSizeLimit: integer(),
    OptionList: list('Options', options, { key: 'OptionID' }),
  },
  { key: 'OptionSetID' },
)
