import { DirectionProvider, MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { ApiError } from './api/client'
import { nonce } from './boot'
import { router } from './router'
import { loaded } from './lib/loading'
import { theme, variables } from './theme'

const Notifications = lazy(() => loaded(() => import('./components/Notifications')))

export function App() {
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: {
          queries: {
            staleTime: 15_000,
            // A refusal does not change with a retry.
            retry: (count, error) =>
              !(error instanceof ApiError && error.status >= 400 && error.status < 500) && count < 3,
          },
          mutations: { networkMode: 'always' },
        },
      }),
  )
  return (
    <DirectionProvider>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={client}>
          <Suspense>
            <Notifications />
          </Suspense>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </DirectionProvider>
  )
}
