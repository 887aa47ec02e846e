const answer = await fetch('/openapi.json')
const spec = await answer.json()

/** The page may have been reached by another name of the server than the one in the document. */
function here({ servers, ...rest }) {
  if (servers === undefined) return rest
  const moved = servers.map((server) => ({
    ...server,
    url: location.origin + server.url.replace(/^https?:\/\/[^/]+/, ''),
  }))
  return { ...rest, servers: moved }
}

const paths = Object.entries(spec.paths).map(([path, item]) => [path, here(item)])

SwaggerUIBundle({
  spec: { ...here(spec), paths: Object.fromEntries(paths) },
  domNode: document.getElementById('reference'),
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
})
