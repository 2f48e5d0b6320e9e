import './boot'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app.css'
import './shell.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { startLanguage } from './i18n'

const root = document.getElementById('root')
if (root) {
  void startLanguage().then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  )
}
