// The plain editor of HTML: it changes only what the person typed. The server makes its content of the source, of a few harmless elements
// whose attributes are text beside them, and merges what comes back into the source, so that everything else stays as it is stored.

const ELEMENTS =
  'a abbr b big blockquote cite code div em font h1 h2 h3 h4 h5 h6 i li ol p s small span strike strong sub sup u ul'.split(
    ' ',
  )
const BLOCKS = 'blockquote div h1 h2 h3 h4 h5 h6 ol p ul'.split(' ')
const ADDRESS = /^(https?:|mailto:|tel:|\/|#|[^:]*$)/i

document.execCommand('defaultParagraphSeparator', false, 'p')
document.execCommand('styleWithCSS', false, false)

for (const button of document.querySelectorAll('[data-editor-again]')) button.hidden = false
for (const editor of document.querySelectorAll('.editor')) openEditor(editor)

function openEditor(editor) {
  const source = document.getElementById(editor.dataset.source)
  const area = editor.querySelector('.area')
  const shown = written(area)
  if (shown !== editor.dataset.canonical) {
    const lost = editor.querySelector('[data-lost]')
    editor.replaceChildren(lost)
    editor.hidden = lost.hidden = false
    return
  }
  source.hidden = true
  editor.hidden = false
  editor.parentElement.querySelector('[data-editor-source]').hidden = false
  source.labels[0]?.addEventListener('click', () => area.focus())
  area.addEventListener('paste', (event) => {
    event.preventDefault()
    document.execCommand('insertText', false, event.clipboardData.getData('text/plain'))
  })
  area.addEventListener('drop', (event) => event.preventDefault())
  area.addEventListener('click', (event) => {
    if (event.target.closest('a')) event.preventDefault()
  })
  editor.addEventListener('mousedown', (event) => {
    // The selection in the text stays.
    if (event.target.closest('[data-command]')) event.preventDefault()
  })
  editor.addEventListener('click', (event) => {
    const button = event.target.closest('[data-command]')
    if (button) carryOut(button.dataset, area)
  })
  source.form.addEventListener('formdata', ({ formData }) => {
    const text = written(area)
    if (text !== shown) formData.set(`${source.name}.edited`, text)
  })
}

function carryOut({ command, argument }, area) {
  if (!area.contains(getSelection().anchorNode)) area.focus()
  if (command !== 'createLink') {
    document.execCommand(command, false, argument ?? null)
    return
  }
  const address = prompt(area.dataset.link, 'https://')?.trim()
  if (!address || address === 'https://' || !ADDRESS.test(address)) return
  document.execCommand(command, false, address)
  for (const link of area.querySelectorAll('a[href]')) {
    link.dataset.attributes = ` href="${quoted(link.getAttribute('href'))}"`
    link.removeAttribute('href')
  }
}

/** What the editor holds, as the server writes it. Elements and styles that only the browser made are left out. */
function written(node) {
  return [...node.childNodes].map(writtenNode).join('')
}

function writtenNode(node) {
  if (node.nodeType === Node.TEXT_NODE) return escaped(node.data)
  if (node.nodeType !== Node.ELEMENT_NODE) return ''
  const { localName: name, dataset } = node
  if (dataset.kept !== undefined) return dataset.kept
  const attributes = dataset.attributes ?? ''
  if (name === 'br') return `<br${attributes}>`
  const isOurs = ELEMENTS.includes(name)
  const isBrowsers = name === 'span' && attributes === '' && node.style.length > 0
  const holdsBlocks = name === 'p' && [...node.children].some(({ localName }) => BLOCKS.includes(localName))
  if (!isOurs || isBrowsers || holdsBlocks) return written(node)
  return `<${name}${attributes}>${written(node)}</${name}>`
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00a0', '&nbsp;')
}

function quoted(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
