import './boot'
import '@mantine/core/styles.css'
import './shell.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { startLanguage } from './i18n'
import { loadStyles } from './lib/loading'

const root = document.getElementById('root')
if (root) {
  void loadStyles().catch(() => undefined) // a page tries again
  void startLanguage().then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  )
}
