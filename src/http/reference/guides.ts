import { readdirSync, readFileSync } from 'node:fs'
import { escapeAttribute } from '../../foundation/xml/text.ts'
import { colouredHtml } from './colours.ts'
import { type Rendered, renderMarkdown } from './markdown.ts'

const docs = new URL('../../../docs/', import.meta.url)
const folder = new URL('guides/', docs)

/** In the order in which a developer needs them: files of `docs/guides`, and the README of the client. */
const names: readonly string[] = [
  'first-call',
  'try-it',
  'first-webhook',
  'errors',
  'stock-sync',
  'order-export',
  'shop-front',
  'till-and-marketplace',
  'oauth',
  'client',
  'test-in-ci',
  'going-live',
  'moving-an-old-client',
  'from-cartapi-to-rest',
]

/** Languages of examples, by the ending of their files, in the order of their labels. */
const languages: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  py: 'Python',
  php: 'PHP',
  cs: 'C#',
}

export interface Guide extends Rendered {
  readonly address: string
  /** For programs that read Markdown, with its examples in it. */
  readonly markdown: string
}

export interface Sample {
  /** Of the choice, such as `ts`: the same in all groups of a page. */
  readonly key: string
  readonly label: string
  readonly note: string
  readonly text: string
}

/** Reads the guides. `local` puts the addresses of this server in place of the sandbox's. */
export function readGuides(local: (text: string) => string): Guide[] {
  return names.map((name) => readGuide(`guides/${name}`, local))
}

/** Reads a file below `docs`, given without its ending, with more Markdown behind it. */
export function readGuide(name: string, local: (text: string) => string, more = ''): Guide {
  let count = 0
  const paragraph = (href: string) => {
    if (!href.startsWith('examples/')) return undefined
    count++
    return samplesHtml(`example-${count}`, 'Language of the example', examplesIn(href))
  }
  const file = name === 'guides/client' ? '../clients/typescript/README.md' : `${name}.md`
  const source = readFileSync(new URL(file, docs), 'utf8') + more
  const markdown = local(source).replace(/^\[Example\]\((examples\/.+)\)$/gm, (_, href) =>
    examplesIn(href)
      .map(({ key, note, text: code }) => `\`${note}\`:\n\n\`\`\`${key}\n${code}\n\`\`\``)
      .join('\n\n'),
  )
  // Code has its colours by what stands in the file.
  const { html, title, summary, sections } = renderMarkdown(withAddresses(source), { paragraph })
  const shown = { html: local(html), title, summary: local(summary) }
  const localSections = sections.map((section) => ({ ...section, text: local(section.text) }))
  return { address: `/docs/${name}`, markdown, ...shown, sections: localSections }
}

/** Links between files of `docs` as links between their pages. */
export function withAddresses(text: string): string {
  return text.replace(/\]\((?:docs\/)?(guides\/)?([a-z-]+)\.md/g, (link, at, name) => {
    if (name === 'policy') return '](/docs/policy'
    return at !== undefined || names.includes(name) ? `](/docs/guides/${name}` : link
  })
}

/** The files of a folder, one for each language. */
function examplesIn(href: string): Sample[] {
  const examples = new URL(`${href}/`, folder)
  const files = readdirSync(examples)
  return Object.entries(languages).flatMap(([ending, label]) => {
    const file = files.find((each) => each.endsWith(`.${ending}`))
    if (file === undefined) return []
    return { key: ending, label, note: file, text: readFileSync(new URL(file, examples), 'utf8').trimEnd() }
  })
}

/**
 * Blocks of code of which one is chosen, all of one page at once where it has its script. Without CSS all are shown, each with its
 * label. `name` is an id in the page.
 */
export function samplesHtml(name: string, legend: string, samples: readonly Sample[]): string {
  const radios = samples.map(({ key, label }, index) => {
    const checked = index === 0 ? ' checked' : ''
    return `<label><input type="radio" name="${name}" value="${key}"${checked}> ${escapeAttribute(label)}</label>`
  })
  const blocks = samples.map(({ key, label, note, text }) => {
    const id = `${name}-${key}`
    const caption = `<p class="caption">${[label, note].filter(Boolean).map(escapeAttribute).join(' · ')} <button type="button" class="secondary outline" data-copy="${id}" data-copied="Copied" hidden>Copy</button></p>`
    return `<div class="sample" data-sample="${key}">${caption}<pre tabindex="0"><code id="${id}">${colouredHtml(text)}</code></pre></div>`
  })
  return `<div class="samples"><fieldset><legend>${escapeAttribute(legend)}</legend>${radios.join(' ')}</fieldset>${blocks.join('')}</div>`
}
