// Markdown of our own files as HTML. HTML inside it is shown as text.

import { Marked, Renderer, type Token, type Tokens } from 'marked'
import { escapeAttribute } from '../../foundation/xml/text.ts'
import { colouredHtml } from './colours.ts'

/** A part of a document below a heading, for the search. */
export interface Section {
  /** Of the heading. Empty: before the first one. */
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Rendered {
  readonly html: string
  /** Of its first heading of the first level, which is left out of `html`. Empty: it has none. */
  readonly title: string
  /** The first paragraph, as text. */
  readonly summary: string
  readonly sections: readonly Section[]
}

export interface MarkdownOptions {
  /** The level that headings of the third level get. */
  readonly level?: number
  /** Returns HTML for a paragraph that is only a link; undefined: the paragraph as it is. */
  readonly paragraph?: (href: string) => string | undefined
}

export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

/** Addresses of this server and of the web. Files beside the document are not served. */
function isReachable(href: string): boolean {
  return /^(?:\/|#|https?:)/.test(href)
}

function tableRow(renderer: Renderer, header: readonly Tokens.TableCell[], row: readonly Tokens.TableCell[]): string {
  const cells = row.map(({ tokens }, index) => {
    const label = escapeAttribute(textOf(header[index]?.tokens ?? []))
    return `<td role="cell" data-label="${label}">${renderer.parser.parseInline(tokens)}</td>`
  })
  return `<tr role="row">${cells.join('')}</tr>`
}

class PageRenderer extends Renderer {
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escapeAttribute(text)
  }

  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${colouredHtml(text)}</code></pre>`
  }

  override link({ href, tokens }: Tokens.Link): string {
    const text = this.parser.parseInline(tokens)
    return isReachable(href) ? `<a href="${escapeAttribute(href)}">${text}</a>` : text
  }

  override image({ text }: Tokens.Image): string {
    return escapeAttribute(text)
  }

  // On phones each row is a card, as in the tables of other pages.
  override table({ header, rows }: Tokens.Table): string {
    const headings = header.map(({ tokens }) => {
      return `<th role="columnheader" scope="col">${this.parser.parseInline(tokens)}</th>`
    })
    const body = rows.map((row) => tableRow(this, header, row)).join('')
    return `<table class="cards" role="table"><thead role="rowgroup"><tr role="row">${headings.join('')}</tr></thead><tbody role="rowgroup">${body}</tbody></table>`
  }
}

const marked = new Marked().setOptions({ gfm: true, renderer: new PageRenderer() })

/** A line of Markdown without paragraphs. */
export function renderInline(text: string): string {
  return marked.parseInline(text, { async: false })
}

export function renderMarkdown(text: string, { level = 3, paragraph }: MarkdownOptions = {}): Rendered {
  const tokens = marked.lexer(text)
  const parts: string[] = []
  const sections: { id: string; title: string; text: string }[] = [{ id: '', title: '', text: '' }]
  const ids = new Set<string>()
  let title = ''
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { depth, tokens: inner } = token as Tokens.Heading
      const words = textOf(inner)
      if (depth === 1) {
        title = words
        continue
      }
      const id = freeId(slugOf(words), ids)
      const shown = Math.max(2, depth + level - 3)
      parts.push(`<h${shown} id="${id}">${marked.Parser.parseInline(inner, marked.defaults)}</h${shown}>`)
      sections.push({ id, title: words, text: '' })
      continue
    }
    parts.push(ofLink(token, paragraph) ?? marked.parser([token]))
    const last = sections.at(-1)
    if (last) last.text = `${last.text} ${textOf([token])}`.trim()
  }
  const first = tokens.find(({ type }) => type === 'paragraph')
  return { html: parts.join('\n'), title, summary: first ? textOf([first]) : '', sections }
}

/** Headings may have one text, such as those of the parts of each version. */
function freeId(slug: string, ids: Set<string>): string {
  let id = slug
  for (let count = 2; ids.has(id); count++) id = `${slug}-${count}`
  ids.add(id)
  return id
}

function ofLink(token: Token, paragraph: MarkdownOptions['paragraph']): string | undefined {
  const inner = token.type === 'paragraph' ? ((token as Tokens.Paragraph).tokens ?? []) : []
  const [only] = inner
  return inner.length === 1 && only?.type === 'link' ? paragraph?.((only as Tokens.Link).href) : undefined
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(textOfToken).join('').replace(/\s+/g, ' ').trim()
}

function textOfToken(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map((cell) => textOf(cell.tokens)).join(' ')).join(' ')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => textOf(tokens)).join(' ')
  const inner = 'tokens' in token ? token.tokens : undefined
  if (inner && inner.length > 0) return inner.map(textOfToken).join('')
  return 'text' in token ? String(token.text) : ' '
}
