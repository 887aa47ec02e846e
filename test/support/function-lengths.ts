import { join } from 'node:path'
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
  type Node,
} from 'typescript-compiler/unstable/ast'
import { API } from 'typescript-compiler/unstable/sync'

const root = join(import.meta.dirname, '../..')
const isFunction = [
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
]

/** Returns how many lines each function of these files has, with its signature and without the comment before it. */
export function functionLengths(files: readonly string[]): number[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(join(root, file))
      return source === undefined ? [] : lengthsWithin(source, source.text)
    })
  } finally {
    api.close()
  }
}

function lengthsWithin(node: Node, text: string): number[] {
  const lengths: number[] = []
  const visit = (each: Node): void => {
    if (isFunction.some((is) => is(each))) {
      const code = text.slice(each.pos, each.end).replace(/^(?:\s|\/\*[\s\S]*?\*\/|\/\/.*\n)+/, '')
      lengths.push(code.split('\n').length)
    }
    each.forEachChild(visit)
  }
  visit(node)
  return lengths
}
