import '../boot'
import '@mantine/core/styles.css'
import '../shell.css'
import '../pages.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import i18n from 'i18next'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { loadTexts, startLanguage } from '../i18n'
import Notifications from '../components/Notifications'
import { SessionProvider } from '../lib/session'
import { loadZones } from '../lib/time'
import { theme, variables } from '../theme'
import { Components } from './Components'
import { samples, zones } from './samples'

// The page of all shared components, for developers: `npm run components`. No build contains it, and it needs no API.
// Without a scheme in its address it shows itself in both.

const scheme = new URLSearchParams(location.search).get('scheme')
const root = document.getElementById('root')

function Both() {
  return (
    <div style={{ display: 'grid', gridTemplateColumns: '1fr 1fr', height: '100dvh', margin: -8 }}>
      {(['light', 'dark'] as const).map((s) => (
        <iframe key={s} title={s} src={`?scheme=${s}`} style={{ border: 0, width: '100%', height: '100%' }} />
      ))}
    </div>
  )
}

function One() {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } })
  for (const [key, data] of samples) client.setQueryData(key, data)
  const router = createRouter({
    routeTree: createRootRoute({ component: Components }),
    history: createMemoryHistory({ initialEntries: ['/'] }),
  })
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      forceColorScheme={scheme === 'dark' ? 'dark' : 'light'}
    >
      <QueryClientProvider client={client}>
        <Notifications />
        <SessionProvider>
          <RouterProvider router={router as never} />
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}

if (root) {
  loadZones(zones)
  await startLanguage()
  await loadTexts(i18n.language)
  createRoot(root).render(<StrictMode>{scheme ? <One /> : <Both />}</StrictMode>)
}
