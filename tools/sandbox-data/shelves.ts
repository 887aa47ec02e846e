/** What the sandbox store sells: departments, their shelves, and the words that product names are made of. */

export interface Noun {
  readonly name: string
  /** Whole dollars. */
  readonly priceFrom: number
  readonly priceTo: number
  /** Tenths of a pound. */
  readonly weight: number
}

export type OptionKind = 'clothing' | 'accessory' | 'bedding' | 'pot' | 'lamp' | 'engraving'

export interface Shelf {
  readonly name: string
  readonly styles: readonly string[]
  readonly nouns: readonly Noun[]
  readonly options?: OptionKind
  /** What the short description says a thing is for. */
  readonly purpose: string
}

export interface Department {
  readonly name: string
  /** Begins the SKUs. */
  readonly code: string
  readonly brands: readonly string[]
  readonly shelves: readonly Shelf[]
}

function noun(name: string, priceFrom: number, priceTo: number, weight: number): Noun {
  return { name, priceFrom, priceTo, weight }
}

export const departments: readonly Department[] = [
  {
    name: 'Kitchen',
    code: 'KIT',
    brands: ['Alder & Finch', 'Northgate Kitchen', 'Maison Perrault', 'Hollis Ironworks'],
    shelves: [
      {
        name: 'Cookware',
        styles: ['Cast Iron', 'Enamel', 'Copper', 'Stainless', 'Carbon Steel', 'Non-stick'],
        nouns: [
          noun('Skillet 10"', 29, 95, 48),
          noun('Saucepan 2 qt', 35, 110, 32),
          noun('Stock Pot 8 qt', 55, 160, 68),
          noun('Dutch Oven 5 qt', 79, 240, 115),
          noun('Sauté Pan', 45, 150, 41),
          noun('Roasting Pan', 49, 140, 62),
        ],
        purpose: 'for slow suppers and quick breakfasts alike',
      },
      {
        name: 'Knives & Boards',
        styles: ['Olive Wood', 'Walnut', 'Maple', 'Rosewood', 'Ash', 'Micarta'],
        nouns: [
          noun('Chef\'s Knife 8"', 49, 180, 6),
          noun('Paring Knife', 19, 60, 3),
          noun('Bread Knife', 35, 110, 6),
          noun('Cutting Board', 29, 120, 45),
          noun('Carving Set', 69, 210, 14),
          noun('Knife Block', 45, 130, 52),
        ],
        purpose: 'that keeps its edge and its looks',
      },
      {
        name: 'Tableware',
        styles: ['Stoneware', 'Porcelain', 'Speckled', 'Blue Rim', 'Hand-glazed', 'Terracotta'],
        nouns: [
          noun('Dinner Plate', 12, 38, 17),
          noun('Pasta Bowl', 12, 36, 14),
          noun('Mug 12 oz', 9, 28, 9),
          noun('Serving Platter', 29, 90, 32),
          noun('Café au Lait Bowl', 11, 32, 11),
          noun('Teapot', 34, 98, 24),
        ],
        purpose: 'for tables that are used every day',
      },
    ],
  },
  {
    name: 'Home',
    code: 'HOM',
    brands: ['Larkfield', 'Studio Østergaard', 'Pembroke Mills', 'Weir & Daughters'],
    shelves: [
      {
        name: 'Lighting',
        styles: ['Brass', 'Linen', 'Rattan', 'Opal Glass', 'Matte Black', 'Ceramic'],
        nouns: [
          noun('Table Lamp', 59, 190, 55),
          noun('Floor Lamp', 119, 340, 140),
          noun('Pendant Light', 79, 260, 48),
          noun('Wall Sconce', 49, 150, 30),
          noun('Desk Lamp', 55, 170, 44),
          noun('Lantern', 29, 90, 28),
        ],
        options: 'lamp',
        purpose: 'that turns a corner into a place to sit',
      },
      {
        name: 'Bedding',
        styles: ['Linen', 'Percale', 'Sateen', 'Washed Cotton', 'Flannel', 'Bamboo'],
        nouns: [
          noun('Duvet Cover', 79, 240, 42),
          noun('Sheet Set', 89, 260, 50),
          noun('Pillowcase Pair', 24, 70, 9),
          noun('Throw', 45, 130, 26),
          noun('Quilt', 110, 320, 61),
          noun('Bed Blanket', 79, 210, 47),
        ],
        options: 'bedding',
        purpose: 'that gets softer with every wash',
      },
      {
        name: 'Baskets & Storage',
        styles: ['Seagrass', 'Jute', 'Willow', 'Canvas', 'Felt', 'Wire'],
        nouns: [
          noun('Basket', 18, 60, 18),
          noun('Laundry Hamper', 45, 120, 52),
          noun('Storage Box', 19, 65, 23),
          noun('Shelf Bin', 12, 38, 11),
          noun('Magazine Rack', 29, 85, 31),
          noun('Umbrella Stand', 39, 110, 48),
        ],
        purpose: 'so that everything has somewhere to be',
      },
    ],
  },
  {
    name: 'Garden',
    code: 'GDN',
    brands: ['Thornbury Tools', 'Greenhalgh', 'Casa Verde'],
    shelves: [
      {
        name: 'Garden Tools',
        styles: ['Ash-handled', 'Stainless', 'Forged', 'Long-handled', 'Left-handed', 'Compact'],
        nouns: [
          noun('Hand Trowel', 14, 42, 9),
          noun('Border Fork', 39, 95, 42),
          noun('Pruning Shears', 24, 80, 7),
          noun('Hoe', 32, 75, 33),
          noun('Leaf Rake', 29, 70, 29),
          noun('Spade', 42, 110, 49),
        ],
        purpose: 'made to be handed down',
      },
      {
        name: 'Planters',
        styles: ['Terracotta', 'Glazed', 'Zinc', 'Fiberstone', 'Cedar', 'Concrete'],
        nouns: [
          noun('Round Planter', 24, 120, 95),
          noun('Window Box', 29, 90, 72),
          noun('Hanging Planter', 22, 70, 38),
          noun('Trough', 49, 180, 160),
          noun('Seed Tray', 12, 34, 12),
          noun('Herb Pot', 9, 30, 21),
        ],
        options: 'pot',
        purpose: 'with drainage holes and a matching saucer',
      },
      {
        name: 'Bird Care',
        styles: ['Cedar', 'Copper', 'Recycled', 'Slate-roofed', 'Painted', 'Rustic'],
        nouns: [
          noun('Bird Feeder', 19, 65, 21),
          noun('Nest Box', 22, 70, 34),
          noun('Bird Bath', 49, 180, 180),
          noun('Suet Holder', 11, 30, 8),
          noun('Bat House', 34, 80, 41),
          noun('Bee Hotel', 22, 60, 26),
        ],
        purpose: 'that guests with wings come back to',
      },
    ],
  },
  {
    name: 'Outdoors',
    code: 'OUT',
    brands: ['Cairn & Co.', 'Tamarack', 'Fjellvik', 'Long Trail Supply'],
    shelves: [
      {
        name: 'Packs',
        styles: ['Waxed Canvas', 'Ripstop', 'Recycled', 'Ultralight', 'Waterproof', 'Heritage'],
        nouns: [
          noun('Daypack 20 L', 59, 160, 19),
          noun('Trekking Pack 55 L', 149, 340, 44),
          noun('Hip Pack', 29, 80, 8),
          noun('Duffel 40 L', 69, 190, 27),
          noun('Dry Bag', 19, 60, 6),
          noun('Messenger Bag', 65, 180, 23),
        ],
        purpose: 'for a weekend away or the way to work',
      },
      {
        name: 'Camping',
        styles: ['Trail', 'Three-season', 'Packable', 'Insulated', 'Alpine', 'Basecamp'],
        nouns: [
          noun('Tent', 149, 480, 74),
          noun('Sleeping Bag', 99, 360, 35),
          noun('Camp Chair', 39, 130, 58),
          noun('Sleeping Pad', 49, 190, 19),
          noun('Camp Stove', 39, 140, 22),
          noun('Tarp', 29, 110, 17),
        ],
        purpose: 'that packs small and pitches fast',
      },
      {
        name: 'Bottles & Flasks',
        styles: ['Brushed Steel', 'Powder-coated', 'Enamel', 'Titanium', 'Glass', 'Insulated'],
        nouns: [
          noun('Water Bottle 24 oz', 16, 48, 9),
          noun('Vacuum Flask', 24, 70, 13),
          noun('Travel Mug', 18, 52, 9),
          noun('Growler 64 oz', 34, 90, 22),
          noun('Lunch Jar', 19, 55, 11),
          noun('Tumbler', 14, 40, 8),
        ],
        purpose: 'that keeps cold drinks cold and hot ones hot',
      },
    ],
  },
  {
    name: 'Clothing',
    code: 'CLO',
    brands: ['Hartwell', 'Saltmarsh', 'Ibáñez & Hijos'],
    shelves: [
      {
        name: 'Shirts',
        styles: ['Organic Cotton', 'Linen', 'Flannel', 'Merino', 'Oxford', 'Chambray'],
        nouns: [
          noun('T-Shirt', 19, 60, 5),
          noun('Button-down Shirt', 45, 130, 8),
          noun('Henley', 29, 85, 7),
          noun('Polo', 32, 90, 6),
          noun('Work Shirt', 49, 120, 10),
          noun('Tunic', 39, 110, 7),
        ],
        options: 'clothing',
        purpose: 'cut to move in',
      },
      {
        name: 'Jackets',
        styles: ['Waxed', 'Quilted', 'Fleece', 'Softshell', 'Denim', 'Wool'],
        nouns: [
          noun('Chore Jacket', 89, 260, 24),
          noun('Parka', 149, 420, 38),
          noun('Vest', 59, 170, 13),
          noun('Rain Jacket', 89, 280, 16),
          noun('Anorak', 99, 290, 18),
          noun('Overshirt', 69, 190, 17),
        ],
        options: 'clothing',
        purpose: 'for the months with an R in them',
      },
      {
        name: 'Socks & Accessories',
        styles: ['Merino', 'Alpaca', 'Cotton', 'Cashmere', 'Ribbed', 'Striped'],
        nouns: [
          noun('Crew Socks', 12, 34, 2),
          noun('Beanie', 18, 60, 2),
          noun('Scarf', 29, 120, 5),
          noun('Gloves', 19, 75, 3),
          noun('Boot Socks', 14, 38, 3),
          noun('Headband', 12, 36, 1),
        ],
        options: 'accessory',
        purpose: 'warm without the weight',
      },
    ],
  },
  {
    name: 'Stationery',
    code: 'STA',
    brands: ['Quill & Brass', 'Papierhaus Löwe'],
    shelves: [
      {
        name: 'Notebooks',
        styles: ['Dotted', 'Ruled', 'Blank', 'Leather', 'Clothbound', 'Recycled'],
        nouns: [
          noun('Pocket Notebook', 8, 24, 3),
          noun('Journal A5', 14, 48, 8),
          noun('Sketchbook', 16, 52, 12),
          noun('Planner', 19, 56, 9),
          noun('Travel Diary', 18, 60, 7),
          noun('Recipe Book', 22, 58, 14),
        ],
        purpose: 'with paper that does not bleed',
      },
      {
        name: 'Pens',
        styles: ['Brass', 'Aluminum', 'Walnut', 'Resin', 'Black Lacquer', 'Steel'],
        nouns: [
          noun('Fountain Pen', 35, 180, 1),
          noun('Ballpoint', 15, 80, 1),
          noun('Mechanical Pencil', 14, 70, 1),
          noun('Rollerball', 22, 110, 1),
          noun('Brush Pen', 9, 32, 1),
          noun('Pen Stand', 24, 75, 11),
        ],
        options: 'engraving',
        purpose: 'for people who still write by hand',
      },
      {
        name: 'Desk',
        styles: ['Walnut', 'Oak', 'Felt', 'Leather', 'Cork', 'Bamboo'],
        nouns: [
          noun('Desk Tray', 24, 90, 19),
          noun('Monitor Stand', 49, 160, 64),
          noun('Desk Mat', 29, 110, 17),
          noun('Bookends', 22, 80, 36),
          noun('Letter Holder', 19, 65, 15),
          noun('Cable Box', 18, 55, 13),
        ],
        purpose: 'for a desk that stays clear',
      },
    ],
  },
]

/** Names of collections, put before a product's style and noun. */
export const collections = ['Harbor', 'Juniper', 'Marlow', 'Sorrel', 'Tilia', 'Fenwick', 'Arden', 'Solstice', 'Émile']

/** A word as part of a file name or address: `Sauté Pan` → `saute-pan`. */
export function slug(text: string): string {
  return plainLetters(text)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

/** Without accents: `Østergaard` → `Ostergaard`. */
export function plainLetters(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[øØ]/g, 'o').replace(/ß/g, 'ss').replace(/[łŁ]/g, 'l')
}
