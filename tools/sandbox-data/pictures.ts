import { type Colour, type Drawing, pictureAddress, type View } from '../../src/operations/sandbox/pictures.ts'

/** Which drawing shows a thing, by a word of its name; the first that fits. */
const things: readonly (readonly [Drawing, RegExp])[] = [
  ['gift', /Gift/],
  ['pen', /Fountain|Ballpoint|Pencil|Rollerball|Brush Pen/],
  ['pan', /Skillet|Saucepan|Pan$/],
  ['knife', /Knife"?$|Knife \d|Carving/],
  ['board', /Cutting Board|Knife Block|Monitor Stand|Desk Mat|Bookends/],
  ['teapot', /Teapot/],
  ['plate', /Plate|Platter/],
  ['bowl', /Bowl|Bath/],
  ['planter', /Planter|Window Box|Trough|Herb Pot/],
  ['pot', /Pot|Oven|Stove/],
  ['mug', /Mug|Tumbler|Jar/],
  ['pendant', /Pendant|Sconce|Lantern/],
  ['lamp', /Lamp/],
  ['roll', /Sleeping/],
  ['cloth', /Cover|Sheet|Pillowcase|Throw|Quilt|Blanket/],
  ['tray', /Tray|Stand$|Rack|Holder/],
  ['basket', /Basket|Hamper/],
  ['box', /Box$|Bin/],
  ['shears', /Shears/],
  ['fork', /Fork|Rake|Hoe/],
  ['spade', /Trowel|Spade/],
  ['house', /Feeder|Nest|House|Hotel/],
  ['bag', /Hip|Duffel|Bag/],
  ['pack', /pack|Pack/],
  ['chair', /Chair/],
  ['tent', /Tent|Tarp/],
  ['bottle', /Bottle|Flask|Growler/],
  ['shirt', /T-Shirt|Button|Henley|Polo|Work Shirt|Tunic/],
  ['jacket', /Jacket|Parka|Vest|Anorak|Overshirt/],
  ['sock', /Socks/],
  ['beanie', /Beanie|Headband/],
  ['scarf', /Scarf/],
  ['glove', /Gloves/],
  ['book', /Notebook|Journal|Sketchbook|Planner|Diary|Recipe/],
]

/** What colour a style has, by a word of it; the first that fits. */
const materials: readonly (readonly [Colour, RegExp])[] = [
  ['copper', /Copper|Terracotta/],
  ['amber', /Brass|Bamboo/],
  ['graphite', /Iron|Black|Slate|Carbon|Non-stick|Forged|Felt/],
  ['silver', /Steel|Stainless|Zinc|Alumin|Titanium|Concrete|Wire|Glass|Three-season/],
  ['brown', /Walnut|Oak|Cedar|Leather|Cork|Rosewood|Olive|Waxed|Heritage|Rustic|Maple|Ash/],
  ['sand', /Linen|Canvas|Seagrass|Jute|Willow|Rattan|Blank|Fiberstone/],
  ['sky', /Denim|Chambray|Blue|Oxford|Ripstop|Waterproof|Softshell/],
  ['moss', /Recycled|Organic|Trail|Packable/],
  ['rose', /Painted|Striped|Cashmere|Enamel|Speckled/],
  ['plum', /Merino|Sateen|Resin|Alpine|Alpaca/],
  ['forest', /Flannel|Wool|Quilted|Compact|Basecamp|Dotted/],
]

/** The picture of a thing of a style, such as of a `Copper` `Sauté Pan`. */
export function pictureFor(style: string, noun: string, view?: View): string {
  return pictureAddress(drawingOf(noun), materials.find(([, words]) => words.test(style))?.[0] ?? 'sea', view)
}

/** The picture of what has no style: a category, or a maker. */
export function pictureOf(drawing: Drawing, number: number): string {
  const colours = ['sea', 'amber', 'forest', 'plum', 'sky', 'copper', 'moss', 'rose'] as const
  return pictureAddress(drawing, colours[number % colours.length] ?? 'sea')
}

export function drawingOf(noun: string): Drawing {
  const found = things.find(([, words]) => words.test(noun))
  if (!found) throw new Error(`No drawing shows a ${noun}`)
  return found[0]
}
