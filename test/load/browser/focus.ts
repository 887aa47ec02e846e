import type { CDPSession, Page } from 'playwright-core'

/** Around a control, where its outline may be, in CSS pixels. */
const MARGIN = 6
/** The contrast between a pixel with the focus and without it from which the change counts (WCAG 2.4.13). */
const CONTRAST_MIN = 3

/** Of a kind are controls that the same rules style: with the same tag, classes and state, in the same ones. */
interface Control {
  readonly html: string
  /** With the margin, in the page's coordinates. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
}

interface Comparison extends Control {
  readonly scheme: Scheme
  /** PNG files in base64: of the box, and of the whole page. */
  readonly focused: string
  readonly unfocused: string
}

const schemes = ['light', 'dark'] as const
type Scheme = (typeof schemes)[number]

/**
 * Unfolds the open page and gives the focus to its controls, as the keyboard does. One of each kind that is not in `known` is
 * compared with itself without the focus, in light and in dark, and `known` gets the kind. Returns the controls whose focus is
 * not visible: fewer pixels change by a contrast of 3:1 than a line around the control has.
 */
export async function findHiddenFocus(page: Page, known: Set<string>): Promise<string[]> {
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
  const changed = await countChangedPixels(page, comparisons)
  return comparisons
    .filter(({ box }, index) => (changed[index] ?? 0) < 2 * (box.width + box.height - 4 * MARGIN))
    .map(({ scheme, html }) => `${scheme}: ${html}`)
}

async function compare(page: Page, devtools: CDPSession, scheme: Scheme, chosen: number[]): Promise<Comparison[]> {
  const shoot = async (clip: Control['box']) =>
    (await devtools.send('Page.captureScreenshot', { format: 'png', clip: { ...clip, scale: 1 } })).data
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  const focused: (Control & { focused: string })[] = []
  for (const index of chosen) {
    const control = (await page.evaluate(`(${focusControl})(${index})`)) as Control
    focused.push({ ...control, focused: await shoot(control.box) })
  }
  const { width, height } = (await page.evaluate(blurred)) as { width: number; height: number }
  const unfocused = await shoot({ x: 0, y: 0, width, height })
  return focused.map((control) => ({ ...control, scheme, unfocused }))
}

const blurred = `(() => {
  document.activeElement.blur()
  const { scrollWidth, scrollHeight } = document.documentElement
  return { width: scrollWidth, height: scrollHeight }
})()`

/** Returns the kinds of all that Tab can reach, in details too, and lets no caret blink. */
const findControls = `(() => {
  for (const details of document.querySelectorAll('details')) details.open = true
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
  control.focus()
  const { left, top, right, bottom } = control.getBoundingClientRect()
  const x = Math.max(0, Math.floor(left + scrollX) - ${MARGIN})
  const y = Math.max(0, Math.floor(top + scrollY) - ${MARGIN})
  const width = Math.min(document.documentElement.scrollWidth, Math.ceil(right + scrollX) + ${MARGIN}) - x
  const height = Math.ceil(bottom + scrollY) + ${MARGIN} - y
  return { html: control.outerHTML.slice(0, 150), box: { x, y, width, height } }
}`

/** Decodes the pictures on a page of its own, because the content policy of the tested one would not let them in. */
async function countChangedPixels(page: Page, comparisons: readonly Comparison[]): Promise<number[]> {
  if (comparisons.length === 0) return []
  const canvas = await page.context().newPage()
  try {
    return (await canvas.evaluate(`(${changedPixels})(${JSON.stringify(comparisons)})`)) as number[]
  } finally {
    await canvas.close()
  }
}

const changedPixels = `async (comparisons) => {
  const images = new Map()
  const imageOf = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  }
  const pixelsOf = (image, x, y, { width, height }) => {
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(image, -x, -y)
    return context.getImageData(0, 0, width, height).data
  }
  const linear = Array.from({ length: 256 }, (_, value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const luminance = (pixels, at) =>
    0.2126 * linear[pixels[at]] + 0.7152 * linear[pixels[at + 1]] + 0.0722 * linear[pixels[at + 2]]
  const counts = []
  for (const { box, scheme, focused, unfocused } of comparisons) {
    if (!images.has(scheme)) images.set(scheme, await imageOf(unfocused))
    const before = pixelsOf(images.get(scheme), box.x, box.y, box)
    const after = pixelsOf(await imageOf(focused), 0, 0, box)
    let count = 0
    for (let at = 0; at < before.length; at += 4) {
      const [dark, bright] = [luminance(before, at), luminance(after, at)].sort((one, other) => one - other)
      if ((bright + 0.05) / (dark + 0.05) >= ${CONTRAST_MIN}) count++
    }
    counts.push(count)
  }
  return counts
}`
