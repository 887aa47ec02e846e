import { compounds, draw, place, word } from './draws.ts'

// SQL of texts as stores have them: some words in a third of all names, others in a few.

const styles =
  'Small,Large,Classic,Red,Blue,Vintage,Modern,Green,Set of 2,White,Mini,Black,Hanging,Round,Painted,Folding,Antique,Ivory,Striped,Spotted,Pocket,Scented,Travel,Jumbo'.split(
    ',',
  )
const materials =
  'Cotton,Metal,Wooden,Glass,Ceramic,Paper,Leather,Steel,Linen,Wool,Plastic,Brass,Bamboo,Silk,Felt,Marble,Enamel,Copper,Zinc,Rattan'.split(
    ',',
  )
const things =
  'Bag,Box,Lamp,Mug,Clock,Sign,Holder,Cushion,Candle,Frame,Bowl,Bottle,Tray,Basket,Card,Ribbon,Purse,Apron,Ornament,Hook,Jar,Plate,Teapot,Tin,Drawer,Doormat,Umbrella,Bracelet,Notebook,Blanket,Stool,Mirror,Cabinet,Lantern,Birdhouse,Doorstop,Wreath,Parasol,Trellis,Gramophone'.split(
    ',',
  )
const firstNames =
  'Maria,James,Anna,John,Sofia,Peter,Laura,Thomas,Emma,Paul,Julia,Daniel,Clara,Michael,Nina,Robert,Eva,Simon,Ada,Hugo,Irene,Felix,Greta,Oscar,Wanda,Otto,Zelda,Boris,Xenia,Ulrich'.split(
    ',',
  )
const lastNames = compounds(
  'Hart,Brook,Wood,Stone,Hill,Marsh,Field,Black,White,Fox,King,North,West,Ash,Rose,Gold,Lock,Wynd,Quill,Zeller'.split(
    ',',
  ),
  'man,ley,ford,er,son,ton,well,worth,wick,by,shaw,croft,dale,mere,stead'.split(','),
)
const cities = [
  'London',
  ...compounds(
    'Spring,River,Green,Oak,Mill,Lake,Fair,Clear,Maple,Cedar,Stone,Salem,King,Queen,Bright'.split(','),
    'field,ton,ville,wood,view,port,dale,burg,haven,mouth,ford,minster,ness,holm,quay'.split(','),
  ),
]
const states =
  'CA,TX,NY,FL,IL,PA,OH,GA,NC,MI,NJ,VA,WA,AZ,MA,TN,IN,MO,MD,WI,CO,MN,SC,AL,LA,KY,OR,OK,CT,UT,IA,NV,AR,MS,KS,NM,NE,ID,WV,HI'.split(
    ',',
  )
const countries = 'US,GB,DE,FR,CA,NL,IT,ES,AU,SE,AT,CH,BE,DK,NO,IE,FI,PT,PL,CZ,NZ,JP,IS,LU'.split(',')

/** Its last word is the model, of which there are twenty products each. */
export function productName(n: string, products: number): string {
  const model = `upper(lpad(to_hex(${place(n, 4, Math.ceil(products / 20))}), 5, '0'))`
  return `concat_ws(' ', ${word(styles, n, 1)}, ${word(materials, n, 2)}, ${word(things, n, 3)}, ${model})`
}

export function productDetails(n: string): string {
  const [style, material, thing] = [word(styles, n, 1), word(materials, n, 2), word(things, n, 3)]
  return `format('{"MFGID":"M-%s","ShortDescription":"%s %s","GTIN":"%s","Weight":%s,"Description":"%s","Keywords":"%s, %s","MainImageFile":"assets/images/products/%s.jpg","ThumbnailFile":"assets/images/thumbs/%s.jpg"}',
    ${n}, ${material}, ${thing}, 4000000000000 + ${n}, 1 + ${place(n, 5, 90)} / 10.0,
    repeat(concat(${style}, ' and made of ', lower(${material}), ', chosen by people who use it every day. '), 1 + ${place(n, 6, 8)}),
    lower(${style}), lower(${thing}), ${n}, ${n})::json`
}

export const firstName = (n: string) => word(firstNames, n, 21, 2)
export const lastName = (n: string) => word(lastNames, n, 22, 2)
export const city = (n: string) => word(cities, n, 23)
export const state = (n: string) => word(states, n, 24)
export const country = (n: string) => word(countries, n, 25)
/** A household shares its number now and then. */
export const phone = (n: string) => `concat('555-', lpad((${n} - (${draw(n, 26)} < 0.1)::int)::text, 8, '0'))`
export const street = (n: string) => `concat(1 + ${place(n, 27, 200)}, ' ', ${word(cities, n, 28)}, ' Street')`
export const email = (n: string) => `concat(lower(${lastName(n)}), '.', ${n}, '@mail', ${place(n, 29, 9)}, '.example')`
