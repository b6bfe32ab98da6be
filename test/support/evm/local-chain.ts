import { readFile } from "node:fs/promises";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import solc from "solc";
import { type Abi, createWalletClient, defineChain, encodeFunctionData, type Hex, http, publicActions } from "viem";
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts";

/** Base's test network by number and name, so that clients of both protocol versions know it. */
const CHAIN_ID = 84_532;
const TOKEN = { name: "Test Dollar", version: "2" };
/** The well-known accounts of a development chain: worth nothing anywhere. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** A chain on this machine: a real EVM, a JSON-RPC server, a token with EIP-3009. */
export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>;

export async function startLocalChain() {
  const runtime = await createHardhatRuntimeEnvironment({
    networks: {
      // Many blocks a second: the chain's clock must not run ahead of the machine's.
      local: { type: "edr-simulated", chainId: CHAIN_ID, allowBlocksWithSameTimestamp: true },
    },
  });
  const server = await runtime.network.createServer("local", "127.0.0.1");
  const { address, port } = await server.listen();
  const rpcUrl = `http://${address}:${port}`;
  const chain = defineChain({
    ...{ id: CHAIN_ID, name: "local", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const walletOf = (account: ReturnType<typeof mnemonicToAccount>) =>
    createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval: 20 }).extend(publicActions);
  const deployer = walletOf(mnemonicToAccount(MNEMONIC, { addressIndex: 0 }));
  const contracts = await compileContracts();
  const { abi } = contracts.Eip3009Token;

  const deploy = async (contract: Contract, args: readonly unknown[]): Promise<Hex> => {
    const hash = await deployer.deployContract({ ...contract, args });
    const { contractAddress } = await deployer.waitForTransactionReceipt({ hash });
    if (contractAddress == null) throw new Error("the contract was not deployed");
    return contractAddress;
  };
  const deployToken = () => deploy(contracts.Eip3009Token, [TOKEN.name, TOKEN.version]);
  const token = await deployToken();
  const write = async (functionName: string, args: readonly unknown[], from = deployer, at = token) => {
    const hash = await from.writeContract({ address: at, abi, functionName, args });
    await from.waitForTransactionReceipt({ hash });
  };
  return {
    ...{
      rpcUrl,
      chainId: CHAIN_ID,
      network: `eip155:${CHAIN_ID}` as const,
      networkV1: "base-sepolia",
      token,
      deployToken,
    },
    tokenName: TOKEN.name,
    tokenVersion: TOKEN.version,
    /** Pays the gas of settlements, as a facilitator does. */
    gasWallet: walletOf(mnemonicToAccount(MNEMONIC, { addressIndex: 1 })),
    /** Somebody new, with so many atomic units of the token. */
    async newPayer(units: bigint) {
      const account = privateKeyToAccount(generatePrivateKey());
      if (units > 0n) await write("mint", [account.address, units]);
      return account;
    },
    mint: (to: Hex, units: bigint) => write("mint", [to, units]),
    balanceOf: async (owner: Hex, at: Hex = token) =>
      (await deployer.readContract({ address: at, abi, functionName: "balanceOf", args: [owner] })) as bigint,
    /** How many transfers of the token have gone to `to`, mints left out. */
    transfersTo: async (to: Hex) => {
      const logs = await deployer.getContractEvents({
        ...{ address: token, abi, eventName: "Transfer", args: { to }, fromBlock: 0n },
      });
      return logs.filter(({ args }) => (args as unknown as { from: Hex }).from !== `0x${"0".repeat(40)}`).length;
    },
    /** Uses or cancels an authorization past everyone, as anybody may. */
    submit: (functionName: string, args: readonly unknown[]) => write(functionName, args),
    /** Several of such calls in one transaction; gives its hash. */
    async submitTogether(calls: readonly { readonly functionName: string; readonly args: readonly unknown[] }[]) {
      const address = await deploy(contracts.Batch, []);
      const encoded = calls.map((call) => encodeFunctionData({ abi, ...call }));
      const args = [token, encoded];
      const hash = await deployer.writeContract({ address, abi: contracts.Batch.abi, functionName: "run", args });
      return (await deployer.waitForTransactionReceipt({ hash })).transactionHash;
    },
    /** Lets the chain's clock pass. */
    async pass(seconds: number) {
      await deployer.request({ method: "evm_increaseTime" as never, params: [seconds] as never });
      await deployer.request({ method: "evm_mine" as never, params: [] as never });
    },
    close: () => server.close(),
  };
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
}

interface Contract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

async function compileContracts(): Promise<Readonly<Record<"Eip3009Token" | "Batch", Contract>>> {
  const content = await readFile(new URL("eip3009-token.sol", import.meta.url), "utf8");
  const input = {
    language: "Solidity",
    sources: { "token.sol": { content } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  const named = (name: string): Contract => {
    const contract = output.contracts?.["token.sol"]?.[name];
    if (contract === undefined) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
    return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
  };
  return { Eip3009Token: named("Eip3009Token"), Batch: named("Batch") };
}
