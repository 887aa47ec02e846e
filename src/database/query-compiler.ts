import { createRequire } from 'node:module'
import type { getPrismaClient } from '@prisma/client/runtime/client'

type Config = Parameters<typeof getPrismaClient>[0]

declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

/**
 * Options of a PrismaClient that loads the query compiler without keeping its text. Prisma imports the text, and 4.4 MB of
 * base64 would stay for as long as the process runs. An upgrade without this option refuses it when a client is made.
 */
export const queryCompilerOptions = { __internal: { configOverride } }

function configOverride(config: Config): Config {
  const { compilerWasm } = config
  return compilerWasm ? { ...config, compilerWasm: { ...compilerWasm, getQueryCompilerWasmModule } } : config
}

async function getQueryCompilerWasmModule(): Promise<object> {
  const require = createRequire(import.meta.url)
  // The one that `compilerBuild` in prisma/schema.prisma names.
  const path = require.resolve('@prisma/client/runtime/query_compiler_small_bg.postgresql.wasm-base64.js')
  const { wasm }: { wasm: string } = require(path)
  delete require.cache[path]
  return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
}
