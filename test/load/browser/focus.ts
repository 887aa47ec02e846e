import type { CDPSession, Page } from 'playwright-core'

const CONTROLS_MAX = 300
/** Around a control, where its outline may be, in CSS pixels. */
const MARGIN = 6
/** The contrast between a pixel with the focus and without it from which the change counts (WCAG 2.4.13). */
const CONTRAST_MIN = 3

interface Control {
  /** The same for controls that the same rules style: its tag, classes and state, and those of what it lies in. */
  readonly kind: string
  readonly html: string
  /** With the margin, in the page's coordinates. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
}

interface Comparison extends Control {
  readonly scheme: 'light' | 'dark'
  /** PNG files in base64. */
  readonly focused: string
  readonly unfocused: string
}

/**
 * Unfolds the open page and presses Tab through its controls. Each of a kind that is not in `known` is compared with itself
 * without the focus, in light and in dark, and `known` gets the kind. Returns the controls whose focus is not visible: fewer
 * pixels change by a contrast of 3:1 than a line around the control has.
 */
export async function findHiddenFocus(page: Page, known: Set<string>): Promise<string[]> {
  await page.evaluate(prepare)
  const devtools = await page.context().newCDPSession(page)
  const comparisons: Comparison[] = []
  for (let tabs = 0; tabs < CONTROLS_MAX; tabs++) {
    await page.keyboard.press('Tab')
    const control = (await page.evaluate(focusedControl)) as Control | null
    if (control === null) break
    if (known.has(control.kind)) continue
    known.add(control.kind)
    comparisons.push(...(await compare(page, devtools, control)))
  }
  await devtools.detach()
  const changed = await countChangedPixels(page, comparisons)
  return comparisons
    .filter(({ box }, index) => (changed[index] ?? 0) < 2 * (box.width + box.height - 4 * MARGIN))
    .map(({ scheme, html }) => `${scheme}: ${html}`)
}

async function compare(page: Page, devtools: CDPSession, control: Control): Promise<Comparison[]> {
  const shoot = async (colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const clip = { ...control.box, scale: 1 }
    return (await devtools.send('Page.captureScreenshot', { format: 'png', clip })).data
  }
  const focused = { light: await shoot('light'), dark: await shoot('dark') }
  // The next Tab goes on from here all the same.
  await page.evaluate('document.activeElement.blur()')
  const unfocused = { dark: await shoot('dark'), light: await shoot('light') }
  return (['light', 'dark'] as const).map((scheme) => ({
    ...control,
    scheme,
    focused: focused[scheme],
    unfocused: unfocused[scheme],
  }))
}

/** Controls in details are reached too, and no caret blinks. */
const prepare = `(() => {
  for (const details of document.querySelectorAll('details')) details.open = true
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { caret-color: transparent !important }')
  document.adoptedStyleSheets.push(sheet)
})()`

/** The control that has the focus; null when the round is over. */
const focusedControl = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body || element.dataset.tabbed) return null
  element.dataset.tabbed = 'yes'
  const kinds = []
  for (let each = element; each !== document.body; each = each.parentElement) {
    kinds.push([each.localName, each.className, each.type, each.getAttribute('aria-current'), each.ariaInvalid].join('.'))
  }
  const { left, top, right, bottom } = element.getBoundingClientRect()
  const x = Math.max(0, Math.floor(left + scrollX) - ${MARGIN})
  const y = Math.max(0, Math.floor(top + scrollY) - ${MARGIN})
  const width = Math.min(document.documentElement.scrollWidth, Math.ceil(right + scrollX) + ${MARGIN}) - x
  const height = Math.ceil(bottom + scrollY) + ${MARGIN} - y
  return { kind: kinds.join(' '), html: element.outerHTML.slice(0, 150), box: { x, y, width, height } }
})()`

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
  const pixelsOf = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height).data
  }
  const linear = Array.from({ length: 256 }, (_, value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const luminance = (pixels, at) =>
    0.2126 * linear[pixels[at]] + 0.7152 * linear[pixels[at + 1]] + 0.0722 * linear[pixels[at + 2]]
  const counts = []
  for (const { focused, unfocused } of comparisons) {
    const [before, after] = [await pixelsOf(unfocused), await pixelsOf(focused)]
    let count = 0
    for (let at = 0; at < before.length; at += 4) {
      const [dark, bright] = [luminance(before, at), luminance(after, at)].sort((one, other) => one - other)
      if ((bright + 0.05) / (dark + 0.05) >= ${CONTRAST_MIN}) count++
    }
    counts.push(count)
  }
  return counts
}`
