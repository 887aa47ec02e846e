// The pictures of the sandbox's products: drawings of ours, each in the colours of what a thing is made of. They are made when they are
// asked for, so that 600 products need no files.

/** Where this server has them, and below which the sandbox's records name them. */
export const PICTURES_PATH = 'assets/sandbox/'

/** Shops that do not exist (RFC 2606): what lies there lies here. */
const NOWHERE = '.store-platform.test'

/** Ground, light, main and dark, by what things are made of or painted with. */
const colours = {
  amber: ['#fbf3e2', '#f3cf8a', '#d99a2b', '#8f5f10'],
  brown: ['#f6efe8', '#cda582', '#96663f', '#5d3b20'],
  copper: ['#fbefe8', '#f0b490', '#c8693a', '#84401e'],
  forest: ['#eaf3ec', '#9cc7a5', '#3f8253', '#235033'],
  graphite: ['#eeeff1', '#9aa1ab', '#4c535e', '#262b33'],
  moss: ['#f2f4e6', '#c3cb8f', '#7f8c3a', '#4d561d'],
  plum: ['#f5edf4', '#cfa5c8', '#8a4c80', '#552a4e'],
  rose: ['#fbeeee', '#ecb0ae', '#c45c5a', '#822f30'],
  sand: ['#f8f4ec', '#e0cfae', '#b89c6c', '#7b6540'],
  sea: ['#e8f4f5', '#97ced2', '#23858f', '#0d525a'],
  silver: ['#f2f4f6', '#cdd4db', '#94a0ac', '#5a6571'],
  sky: ['#eaf1fa', '#a5c4ea', '#4577b8', '#234a7e'],
} as const

/** On a square of 100. The classes become colours: light, main and dark; those with `s` are lines. */
const drawings = {
  bag: '<path class="sd" d="M34 44C34 22 66 22 66 44"/><rect class="m" x="16" y="40" width="68" height="40" rx="9"/><path class="d" d="M16 49h68v7H16z"/><rect class="l" x="44" y="48" width="12" height="14" rx="3"/>',
  basket:
    '<path class="sd" d="M30 42C30 14 70 14 70 42"/><path class="m" d="M16 40h68l-9 42H25z"/><path class="sl" d="M20 54h60M22 66h56M36 42l4 38M64 42l-4 38M50 42v38"/>',
  beanie:
    '<circle class="l" cx="50" cy="20" r="8"/><path class="m" d="M20 66C20 12 80 12 80 66z"/><rect class="d" x="15" y="62" width="70" height="19" rx="8"/><path class="sl" d="M28 66v11M39 66v11M50 66v11M61 66v11M72 66v11"/>',
  board:
    '<rect class="m" x="28" y="30" width="44" height="56" rx="8"/><rect class="m" x="43" y="12" width="14" height="24" rx="6"/><circle class="l" cx="50" cy="20" r="3.5"/><path class="sd" d="M36 44v32M64 44v32"/>',
  book: '<rect class="d" x="26" y="16" width="54" height="70" rx="5"/><rect class="m" x="22" y="13" width="54" height="70" rx="5"/><path class="l" d="M34 13v70h-7a5 5 0 0 1-5-5V18a5 5 0 0 1 5-5z"/><rect class="l" x="43" y="28" width="24" height="11" rx="2"/>',
  bottle:
    '<rect class="d" x="42" y="10" width="16" height="13" rx="3"/><path class="m" d="M42 24h16c0 8 10 9 10 22v36a7 7 0 0 1-7 7H39a7 7 0 0 1-7-7V46c0-13 10-14 10-22z"/><path class="l" d="M32 52h36v18H32z"/>',
  bowl: '<ellipse class="d" cx="50" cy="44" rx="38" ry="10"/><path class="m" d="M12 44c0 26 18 36 38 36s38-10 38-36c-8 12-68 12-76 0z"/><rect class="l" x="38" y="79" width="24" height="6" rx="2"/>',
  box: '<path class="l" d="M14 38l36-16 36 16-36 14z"/><path class="m" d="M14 38l36 14v34L14 70z"/><path class="d" d="M86 38L50 52v34l36-16z"/>',
  chair:
    '<path class="sd" d="M28 20l34 68M72 88L34 50M72 56v32M28 56v32"/><path class="m" d="M22 18l14-4 16 40H36z"/><rect class="l" x="34" y="50" width="42" height="10" rx="4"/>',
  cloth:
    '<rect class="d" x="14" y="62" width="72" height="19" rx="9"/><rect class="m" x="17" y="43" width="66" height="19" rx="9"/><rect class="l" x="20" y="24" width="60" height="19" rx="9"/><path class="sd" d="M30 33h26M28 52h20"/>',
  fork: '<rect class="l" x="47" y="12" width="6" height="46"/><rect class="d" x="38" y="10" width="24" height="8" rx="4"/><path class="sm" d="M30 88V64c0-6 40-6 40 0v24M43 60v28M57 60v28"/>',
  gift: '<rect class="m" x="18" y="42" width="64" height="42" rx="4"/><rect class="d" x="13" y="31" width="74" height="15" rx="4"/><path class="l" d="M44 31h12v53H44z"/><path class="sd" d="M50 31C40 10 22 18 30 31M50 31C60 10 78 18 70 31"/>',
  glove:
    '<path class="m" d="M32 66V34c0-7 9-7 9 0V22c0-7 9-7 9 0v-3c0-7 9-7 9 0v6c0-7 9-7 9 0v26l6-9c4-5 11 0 8 6L70 66z"/><rect class="d" x="30" y="66" width="42" height="19" rx="5"/><path class="sl" d="M38 71v9M46 71v9M54 71v9M62 71v9"/>',
  house:
    '<rect class="m" x="26" y="38" width="48" height="46" rx="3"/><path class="d" d="M50 12l38 30H12z"/><circle class="l" cx="50" cy="56" r="9"/><rect class="d" x="47" y="69" width="6" height="11" rx="2"/>',
  jacket:
    '<path class="m" d="M34 16l-20 14 6 46h12v10h36V76h12l6-46-20-14-16 10z"/><path class="d" d="M48 26h4v60h-4z"/><path class="l" d="M34 16l14 12-10 8zM66 16L52 28l10 8z"/><path class="sl" d="M36 64h8M56 64h8"/>',
  knife:
    '<path class="l" d="M12 58C30 32 56 26 70 24v34z"/><rect class="d" x="68" y="30" width="24" height="18" rx="6"/><circle class="m" cx="76" cy="39" r="2.5"/><circle class="m" cx="84" cy="39" r="2.5"/><path class="m" d="M12 58h58v5H14z"/>',
  lamp: '<path class="l" d="M36 16h28l14 36H22z"/><rect class="m" x="47" y="52" width="6" height="26"/><ellipse class="d" cx="50" cy="82" rx="22" ry="6"/><circle class="m" cx="50" cy="66" r="9"/>',
  mark: '<circle class="m" cx="50" cy="50" r="36"/><path class="l" d="M50 20c18 14 18 46 0 60C32 66 32 34 50 20z"/><path class="sd" d="M50 26v48"/>',
  mug: '<path class="sd" d="M66 38h10c12 0 12 24 0 24H66"/><rect class="m" x="22" y="26" width="46" height="56" rx="8"/><rect class="l" x="22" y="38" width="46" height="10"/><ellipse class="d" cx="45" cy="27" rx="23" ry="5"/>',
  pack: '<path class="sd" d="M40 20c0-10 20-10 20 0"/><rect class="m" x="24" y="18" width="52" height="66" rx="16"/><rect class="d" x="32" y="52" width="36" height="26" rx="6"/><path class="l" d="M24 34c10 10 42 10 52 0v8c-10 10-42 10-52 0z"/>',
  pan: '<circle class="d" cx="38" cy="50" r="30"/><circle class="m" cx="38" cy="50" r="24"/><rect class="d" x="64" y="45" width="30" height="10" rx="5"/><path class="sl" d="M24 44c3-8 9-11 16-11"/>',
  pen: '<g transform="rotate(40 50 50)"><rect class="m" x="44" y="4" width="12" height="66" rx="5"/><path class="l" d="M44 70h12l-6 20z"/><rect class="d" x="44" y="34" width="12" height="6"/><rect class="d" x="55" y="8" width="4" height="26" rx="2"/></g>',
  pendant:
    '<path class="sd" d="M50 6v24"/><path class="m" d="M18 66C18 30 82 30 82 66z"/><ellipse class="d" cx="50" cy="66" rx="32" ry="6"/><circle class="l" cx="50" cy="71" r="9"/>',
  planter:
    '<path class="sd" d="M50 48C50 30 40 24 30 22M50 48c0-22 10-26 20-30M50 48V24"/><circle class="l" cx="30" cy="21" r="7"/><circle class="l" cx="71" cy="18" r="7"/><circle class="l" cx="50" cy="18" r="8"/><path class="m" d="M22 48h56l-8 38H30z"/><rect class="d" x="18" y="44" width="64" height="11" rx="3"/>',
  plate:
    '<circle class="m" cx="50" cy="50" r="38"/><circle class="l" cx="50" cy="50" r="27"/><path class="sd" d="M38 36c6-6 16-7 23-2"/>',
  pot: '<rect class="d" x="8" y="44" width="84" height="8" rx="4"/><path class="m" d="M18 42h64v34a9 9 0 0 1-9 9H27a9 9 0 0 1-9-9z"/><rect class="d" x="15" y="32" width="70" height="11" rx="5"/><rect class="l" x="42" y="22" width="16" height="10" rx="4"/><path class="sl" d="M28 56v18"/>',
  roll: '<rect class="m" x="14" y="30" width="62" height="42" rx="6"/><ellipse class="l" cx="76" cy="51" rx="13" ry="21"/><ellipse class="d" cx="76" cy="51" rx="6" ry="10"/><path class="sd" d="M28 30v42M54 30v42"/>',
  scarf:
    '<path class="m" d="M26 18c14 16 34 16 48 0l8 10c-18 24-46 24-64 0z"/><path class="d" d="M56 40h17l6 44H60z"/><path class="l" d="M28 40h17l-5 30H22z"/><path class="sl" d="M62 62h14M63 72h14"/>',
  shears:
    '<path class="sl" d="M50 50L38 10M50 50l12-40"/><path class="sm" d="M50 50C30 56 26 70 32 86M50 50c20 6 24 20 18 36"/><circle class="d" cx="50" cy="48" r="6"/>',
  shirt:
    '<path class="m" d="M34 16L12 30l8 20 10-5v39h40V45l10 5 8-20-22-14c-8 10-24 10-32 0z"/><path class="sl" d="M40 21c6 6 14 6 20 0"/><rect class="d" x="55" y="42" width="11" height="13" rx="2"/>',
  sock: '<path class="m" d="M36 12h26v42l16 20c6 10-6 20-18 10L38 66c-2-2-2-6-2-10z"/><rect class="d" x="33" y="10" width="32" height="15" rx="4"/><path class="sl" d="M36 34h26M36 42h26"/>',
  spade:
    '<rect class="l" x="47" y="14" width="6" height="40"/><rect class="d" x="38" y="10" width="24" height="8" rx="4"/><path class="m" d="M32 52h36v16c0 12-12 18-18 24-6-6-18-12-18-24z"/><path class="sd" d="M50 58v22"/>',
  teapot:
    '<path class="sd" d="M24 44C6 42 8 70 28 68"/><path class="m" d="M72 56l20-20-4 26-18 16z"/><ellipse class="m" cx="50" cy="60" rx="28" ry="24"/><ellipse class="d" cx="50" cy="38" rx="17" ry="5"/><circle class="l" cx="50" cy="30" r="5"/>',
  tent: '<path class="m" d="M50 18L8 82h84z"/><path class="d" d="M50 18L34 82h32z"/><path class="l" d="M50 42L42 82h16z"/><path class="sd" d="M50 18l6-8"/>',
  tray: '<path class="l" d="M14 44h72l-8 20H22z"/><path class="m" d="M10 44h10l6 26h48l6-26h10l-8 38H18z"/><path class="sd" d="M36 76h28"/>',
} as const

export type Drawing = keyof typeof drawings
export type Colour = keyof typeof colours

/** How the other pictures of a product look at it. */
const views = {
  front: '',
  thumb: '',
  back: 'translate(100 0) scale(-1 1)',
  side: 'translate(21 0) scale(.58 1)',
  detail: 'translate(-50 -50) scale(2)',
  'in-use': 'translate(18 26) scale(.64)',
} as const

export type View = keyof typeof views

/** Returns the address of a picture below the store's, such as `assets/sandbox/pan-copper-side.svg`. */
export function pictureAddress(drawing: Drawing, colour: Colour, view?: View): string {
  return `${PICTURES_PATH}${[drawing, colour, view].filter(Boolean).join('-')}.svg`
}

const named = /^([a-z]+)-([a-z]+)(?:-([a-z-]+))?\.svg$/

/** Draws the picture with this file name, always the same. Null: there is no such picture. */
export function drawPicture(file: string): string | null {
  const [, drawing = '', colour = '', view = 'front'] = named.exec(file) ?? []
  if (!Object.hasOwn(drawings, drawing) || !Object.hasOwn(colours, colour) || !Object.hasOwn(views, view)) return null
  const [ground, light, main, dark] = colours[colour as Colour]
  const paint: Readonly<Record<string, string>> = { l: light, m: main, d: dark }
  const painted = drawings[drawing as Drawing].replace(/class="(s?)([lmd])"/g, (_, isLine, name) =>
    isLine ? `fill="none" stroke="${paint[name]}"` : `fill="${paint[name]}"`,
  )
  const table = view === 'in-use' ? `<path fill="${light}" d="M0 70h100v30H0z"/>` : ''
  const transform = views[view as View]
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="400" height="400">' +
    `<path fill="${ground}" d="M0 0h100v100H0z"/>${table}` +
    `<g stroke-width="4" stroke-linecap="round"${transform && ` transform="${transform}"`}>${painted}</g></svg>`
  )
}

/** The path of a picture of the sandbox on this server, of a store that has no shop. Null: the address is of something else. */
export function pictureHere({ hostname, pathname }: URL): string | null {
  return hostname.endsWith(NOWHERE) && pathname.startsWith(`/${PICTURES_PATH}`) ? pathname : null
}
