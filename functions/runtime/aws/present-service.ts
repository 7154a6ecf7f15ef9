/** @throws Error for a service that the function was not given: its handler is not the one it was deployed with. */
export function presentService<T>(name: string, service: T | undefined): T {
  if (service !== undefined) return service;
  throw new Error(`this function was deployed without the service ${name}`);
}
