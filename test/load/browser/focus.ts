import type { CDPSession, Page } from 'playwright-core'

/** Around a control, where its outline may be, in CSS pixels. */
const MARGIN = 6
/** The contrast from which a change of a pixel by the focus counts (WCAG 2.4.13), and with which a control ends (WCAG 1.4.11). */
const CONTRAST_MIN = 3

/** Of a kind are controls that the same rules style: with the same tag, classes and state, in the same ones. */
interface Control {
  readonly html: string
  /** With the margin, in the page's coordinates. */
  readonly box: Box
  /** Its own edges in the box, where it has any: not those of links, nor of what looks like one. */
  readonly edges: Box | null
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Comparison extends Control {
  readonly scheme: Scheme
  /** PNG files in base64, of the box. */
  readonly focused: string
  readonly unfocused: string
}

const schemes = ['light', 'dark'] as const
type Scheme = (typeof schemes)[number]

/**
 * Unfolds the open page and gives the focus to its controls, as the keyboard does. One of each kind that is not in `known` is
 * compared with itself without the focus, in light and in dark, and `known` gets the kind. Returns the controls whose focus is
 * not visible: fewer pixels change by a contrast of 3:1 than a line around the control has. And those that end in no line or fill of 3:1
 * against what is behind them, on any side.
 */
export async function findFaintControls(page: Page, known: Set<string>): Promise<string[]> {
  const kinds = (await page.evaluate(findControls)) as string[]
  const isFirst = (kind: string, index: number) => !known.has(kind) && kinds.indexOf(kind) === index
  const chosen = [...kinds.keys()].filter((index) => isFirst(kinds[index] ?? '', index))
  if (chosen.length === 0) return []
  for (const kind of kinds) known.add(kind)
  const devtools = await page.context().newCDPSession(page)
  // A browser shows the focus that a script gives only behind a key.
  await page.keyboard.press('Tab')
  const comparisons: Comparison[] = []
  for (const scheme of schemes) comparisons.push(...(await compare(page, devtools, scheme, chosen)))
  await devtools.detach()
  const measures = await measure(page, comparisons)
  return comparisons.flatMap(({ box, scheme, html }, index) => {
    const { changed = 0, faintest = null } = measures[index] ?? {}
    const isHidden = changed < 2 * (box.width + box.height - 4 * MARGIN)
    return [
      ...(isHidden ? [`${scheme}, focus: ${html}`] : []),
      ...(faintest !== null && faintest < CONTRAST_MIN ? [`${scheme}, edge of ${faintest.toFixed(2)}: ${html}`] : []),
    ]
  })
}

async function compare(page: Page, devtools: CDPSession, scheme: Scheme, chosen: number[]): Promise<Comparison[]> {
  const shoot = async ({ box, isInView }: ShownControl) =>
    // Beyond the window, a picture takes as long as one of the whole page.
    (
      await devtools.send('Page.captureScreenshot', {
        format: 'png',
        optimizeForSpeed: true,
        clip: { ...box, scale: 1 },
        captureBeyondViewport: !isInView,
      })
    ).data
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  const comparisons: Comparison[] = []
  for (const index of chosen) {
    const control = (await page.evaluate(`(${focusControl})(${index})`)) as ShownControl
    const focused = await shoot(control)
    await page.evaluate('document.activeElement.blur()')
    comparisons.push({ ...control, scheme, focused, unfocused: await shoot(control) })
  }
  return comparisons
}

/** Whether all of its box is in the window, and nothing has to be pictured beyond it. */
interface ShownControl extends Control {
  readonly isInView: boolean
}

/** Returns the kinds of all that Tab can reach, in details too, and lets no caret blink. Menus cover what is below them, so each is open alone. */
const findControls = `(() => {
  for (const details of document.querySelectorAll('details')) details.open = true
  window.openMenuOf = (control) => {
    for (const menu of document.querySelectorAll('details.menu')) {
      menu.removeAttribute('name')
      menu.open = menu.contains(control) && !menu.querySelector('summary').contains(control)
    }
  }
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { caret-color: transparent !important }')
  document.adoptedStyleSheets.push(sheet)
  const controls = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')
  window.controls = [...controls].filter((each) => each.tabIndex >= 0 && !each.disabled && each.getClientRects().length > 0)
  return window.controls.map((control) => {
    const kinds = []
    for (let each = control; each !== document.body; each = each.parentElement) {
      kinds.push([each.localName, each.className, each.type, each.getAttribute('aria-current'), each.ariaInvalid].join('.'))
    }
    return kinds.join(' ')
  })
})()`

const focusControl = `(index) => {
  const control = window.controls[index]
  openMenuOf(control)
  control.focus()
  control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const { left, top, right, bottom } = control.getBoundingClientRect()
  const x = Math.max(0, Math.floor(left + scrollX) - ${MARGIN})
  const y = Math.max(0, Math.floor(top + scrollY) - ${MARGIN})
  const width = Math.min(document.documentElement.scrollWidth, Math.ceil(right + scrollX) + ${MARGIN}) - x
  const height = Math.ceil(bottom + scrollY) + ${MARGIN} - y
  const isBordered = control.matches('input:not([type=file]), select, textarea, button:not(.link), .button')
  const edges = isBordered
    ? { x: Math.round(left + scrollX) - x, y: Math.round(top + scrollY) - y, width: Math.round(right - left), height: Math.round(bottom - top) }
    : null
  const isInView = y >= scrollY && y + height <= scrollY + innerHeight && x >= scrollX && x + width <= scrollX + innerWidth
  return { html: control.outerHTML.slice(0, 150), box: { x, y, width, height }, edges, isInView }
}`

interface Measure {
  /** Pixels that the focus changes by the contrast that counts. */
  readonly changed: number
  /** The contrast of the edges with what is behind them, on the side where it is least; null: there are none. */
  readonly faintest: number | null
}

/** Decodes the pictures on a page of its own, because the content policy of the tested one would not let them in. */
async function measure(page: Page, comparisons: readonly Comparison[]): Promise<Measure[]> {
  if (comparisons.length === 0) return []
  const canvas = await page.context().newPage()
  try {
    return (await canvas.evaluate(`(${measurePixels})(${JSON.stringify(comparisons)})`)) as Measure[]
  } finally {
    await canvas.close()
  }
}

const measurePixels = `async (comparisons) => {
  const imageOf = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  }
  const pixelsOf = (image, { width, height }) => {
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, width, height).data
  }
  const linear = Array.from({ length: 256 }, (_, value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const luminance = (pixels, at) =>
    0.2126 * linear[pixels[at]] + 0.7152 * linear[pixels[at + 1]] + 0.0722 * linear[pixels[at + 2]]
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  // From outside to inside across the middle of each side: a line is as strong as its strongest pixel.
  const faintestEdge = (pixels, box, { x, y, width, height }) => {
    const at = (column, row) => luminance(pixels, 4 * (row * box.width + column))
    const [middleX, middleY] = [x + Math.floor(width / 2), y + Math.floor(height / 2)]
    const sides = [
      (inwards) => at(x + inwards, middleY),
      (inwards) => at(x + width - 1 - inwards, middleY),
      (inwards) => at(middleX, y + inwards),
      (inwards) => at(middleX, y + height - 1 - inwards),
    ]
    return Math.min(...sides.map((side) => Math.max(...[-1, 0, 1, 2].map((inwards) => contrast(side(-2), side(inwards))))))
  }
  const measures = []
  for (const { box, edges, focused, unfocused } of comparisons) {
    const before = pixelsOf(await imageOf(unfocused), box)
    const after = pixelsOf(await imageOf(focused), box)
    let changed = 0
    for (let at = 0; at < before.length; at += 4) {
      if (contrast(luminance(before, at), luminance(after, at)) >= ${CONTRAST_MIN}) changed++
    }
    measures.push({ changed, faintest: edges && faintestEdge(before, box, edges) })
  }
  return measures
}`
