/** The proxy from a test's side: what is to go wrong, and what was called. */
import { type Faults, type SeenCall, seenCallsSchema } from './fault-rules.ts';

export interface FaultControl {
  /** Replaces what was to go wrong before. */
  set(faults: Faults): Promise<void>;
  clear(): Promise<void>;
  /** Calls that came while `act` ran and ended since. */
  during<T>(act: () => Promise<T>): Promise<{ result: T; calls: SeenCall[] }>;
}

export function faultControl(proxy: string): FaultControl {
  const set = async (faults: Faults): Promise<void> => {
    const response = await fetch(`${proxy}/faults`, { method: 'PUT', body: JSON.stringify(faults) });
    if (!response.ok)
      throw new Error(`the proxy refused ${JSON.stringify(faults)}: ${await response.text()}`);
  };
  const callsAfter = async (sequence: number): Promise<SeenCall[]> => {
    const response = await fetch(`${proxy}/calls?after=${sequence}`);
    return seenCallsSchema.parse(await response.json());
  };
  return {
    set,
    clear: () => set({}),
    during: async (act) => {
      const before = await callsAfter(0);
      const last = before.reduce((most, { sequence }) => Math.max(most, sequence), 0);
      const result = await act();
      return { result, calls: await callsAfter(last) };
    },
  };
}
