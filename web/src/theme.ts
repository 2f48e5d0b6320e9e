import { type CSSVariablesResolver, createTheme, DEFAULT_THEME } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: 8,
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, "Segoe UI", Roboto, "Noto Sans", Helvetica, Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.84375rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontFamily: 'inherit',
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.4375rem', lineHeight: '1.3' },
      h3: { fontSize: '1.1875rem', lineHeight: '1.35' },
      h4: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h5: { fontSize: '0.9375rem', lineHeight: '1.45' },
    },
  },
  // Neutral grays with a little blue, from text to the canvas.
  colors: {
    dark: [
      '#dfe2e8',
      '#c2c6cf',
      '#a4a9b4',
      '#757b88',
      '#4a4f5a',
      '#363a43',
      '#272a31',
      '#1f2126',
      '#17181c',
      '#101114',
    ],
  },
  cursorType: 'pointer',
  components: {
    // An open menu has the focus on its first item; a placeholder that has it is no item of a menu (ARIA 1.2, menu).
    // Not Menu.extend: menus are loaded later.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
})

/** Mantine's dimmed and tinted texts have less contrast than WCAG 2.2 AA requires (1.4.3). */
export const variables: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    '--mantine-color-dimmed': '#545b64',
    '--mantine-color-placeholder': '#5f6670',
    '--mantine-color-error': '#b42318',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
  }
  const dark: Record<string, string> = {
    '--mantine-color-dimmed': '#abb1ba',
    '--mantine-color-placeholder': '#a0a6af',
    '--mantine-color-error': '#ff9b93',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-body': '#1f2126',
    '--mantine-color-gray-light': 'var(--mantine-color-dark-5)',
    '--mantine-color-gray-light-hover': 'var(--mantine-color-dark-4)',
  }
  for (const color of Object.keys(DEFAULT_THEME.colors)) {
    if (color === 'dark') continue
    light[`--mantine-color-${color}-light-color`] = `color-mix(in srgb, var(--mantine-color-${color}-9), black 32%)`
    dark[`--mantine-color-${color}-light-color`] = `var(--mantine-color-${color}-2)`
  }
  return { variables: {}, light, dark }
}
