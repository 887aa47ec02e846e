import { boolean, decimal, integer, LONG_TEXT, list, money, text } from '../../engine/definition/fields.ts'
import { imagePath, itemNumber } from './common-fields.ts'

const sorting = decimal({
  label: 'Position',
  hint: 'Lower numbers come first',
  description:
    'The place among the other sets, or of an option among those of its set: the storefront shows lower numbers first.',
})

/** The option sets of a product or category (rest-resources §1.4). */
export const optionSetList = list(
  'OptionSet',
  {
    OptionSetID: itemNumber('Number', 'The number of the set in the store.'),
    OptionSetName: text(255, {
      label: 'Name',
      description:
        'The caption of the set, such as `Size`. It precedes the chosen option in the ItemDescription of an order’s line.',
    }),
    OptionSorting: sorting,
    OptionRequired: boolean({
      label: 'Required',
      description:
        'True: a line of a new order must name an option of the set. Sets that are answered by a text or a file demand nothing.',
    }),
    OptionType: text(10, {
      label: 'Type',
      offered: {
        Dropdown: 'one option of a list that opens',
        Radio: 'one option of a list that is open',
        Checkbox: 'several options of a list',
        Text: 'a line of text that the shopper types',
        Textarea: 'a longer text that the shopper types',
        File: 'a file that the shopper uploads',
        DropImage: 'a picture that the shopper uploads',
      },
      description:
        'The control with which a shopper chooses. `Dropdown` and `Radio` take one option. `Text`, `Textarea`, `File` and `DropImage` are typed or uploaded and have nothing to choose. Any other, such as `Checkbox`, takes several.',
    }),
    OptionURL: text(LONG_TEXT, {
      label: 'Address of help',
      description: 'An address with more about the choice, such as a table of sizes.',
    }),
    OptionAdditionalInformation: text(LONG_TEXT, {
      label: 'Help',
      description: 'Help for the shopper, shown beside the choice.',
    }),
    OptionSizeLimit: integer({
      label: 'Longest text or largest file',
      description:
        'The maximum length of a text, or size of a file, that a shopper may give. Kept for programs: orders are not checked against it.',
    }),
    OptionList: list(
      'Options',
      {
        OptionID: itemNumber(
          'Number',
          'The number of the option in the store. Lines of orders (ItemOptions) and advanced options name it.',
        ),
        OptionName: text(255, {
          label: 'Name',
          description:
            'The name of the option, such as `L`. It becomes part of the ItemDescription of an order’s line.',
        }),
        OptionSelected: boolean({
          label: 'Proposed',
          description: 'True: the storefront proposes the option. New orders have only the options that they name.',
        }),
        OptionHide: boolean({
          label: 'Hidden',
          description:
            'True: the storefront does not offer the option, and the administration makes no advanced options of it. Orders that name it are still accepted.',
        }),
        OptionValue: money({
          numberKind: 'money',
          label: 'Surcharge',
          description:
            'The amount that the option adds to the unit price; a negative one lowers it. An AdvancedOptionPrice replaces it.',
        }),
        OptionPartNumber: text(50, {
          label: 'SKU part',
          description:
            'The part of a SKU that stands for the option. The administration proposes AdvancedOptionSufix by it.',
        }),
        OptionSorting: sorting,
        OptionImagePath: imagePath(255, 'A picture of the option, such as a sample of its colour', 'Picture'),
        /** The product bundled with the option; 0: none. */
        OptionBundleCatalogId: integer({
          label: 'Comes with product',
          min: 0,
          description:
            'The CatalogID of a product that comes with the option; 0: none. An unknown one is refused. Orders do not take it off the stock.',
        }),
        OptionBundleQuantity: integer({
          label: 'Quantity that comes',
          description: 'The quantity of the product OptionBundleCatalogId that comes with the option.',
        }),
      },
      { mainly: ['OptionName', 'OptionValue', 'OptionPartNumber'], description: 'The options of the set.' },
    ),
  },
  {
    mainly: ['OptionSetName', 'OptionType', 'OptionRequired'],
    description:
      'The choices that a shopper makes when buying, such as size and colour: one set for each. The sets of a category also apply to its products, unless a product has DoNotUseCategoryOptions.',
  },
)
