declare module 'virtual:texts/*' {
  const texts: Record<string, unknown>
  export default texts
}
