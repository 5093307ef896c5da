/** What several kernels share: growing their memory, and the constants of philox.ts. */
const PAGE_BYTES: usize = 65536;
export const ALIGNMENT: usize = 16;

export const MULTIPLIER_0: u64 = 0xd2511f53;
export const MULTIPLIER_1: u64 = 0xcd9e8d57;
export const WEYL_0: u32 = 0x9e3779b9;
export const WEYL_1: u32 = 0xbb67ae85;
export const ROUNDS: u32 = 10;

export function aligned(address: usize): usize {
  return (address + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/** Grows memory so that it ends at this address or later; traps if that is impossible. */
export function reach(end: usize): void {
  const pages = <i32>((end + PAGE_BYTES - 1) / PAGE_BYTES);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}
