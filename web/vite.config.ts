import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { withoutUnused } from './scripts/styles.ts'
import { texts } from './scripts/texts.ts'

export default defineConfig({
  plugins: [react(), texts()],
  // Assets are named relative to what names them: the program decides which path
  // it is published under.
  base: './',
  css: { postcss: { plugins: [withoutUnused()] } },
  build: { target: 'es2022', assetsInlineLimit: 0, manifest: 'manifest.json', reportCompressedSize: false },
  test: { environment: 'node', setupFiles: ['src/lib/zones.testing.ts'], testTimeout: 180_000, hookTimeout: 900_000 },
})
