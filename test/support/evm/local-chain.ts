import { readFile } from "node:fs/promises";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import solc from "solc";
import { type Abi, createWalletClient, defineChain, encodeFunctionData, type Hex, http, publicActions } from "viem";
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts";

/** Chain id of Base Sepolia, which clients of both protocol versions support. */
const CHAIN_ID = 84_532;
const TOKEN = { name: "Test Dollar", version: "2" };
/** The well-known test mnemonic of development chains. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** A local EVM chain with a JSON-RPC server and an EIP-3009 token. */
export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>;

export async function startLocalChain() {
  const runtime = await createHardhatRuntimeEnvironment({
    networks: {
      // Prevents block timestamps from running ahead of the system clock by a second per block.
      local: { type: "edr-simulated", chainId: CHAIN_ID, allowBlocksWithSameTimestamp: true },
    },
  });
  const server = await runtime.network.createServer("local", "127.0.0.1");
  const { address, port } = await server.listen();
  const rpcUrl = `http://${address}:${port}`;
  const chain = defineChain({
    id: CHAIN_ID,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
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
    rpcUrl,
    chainId: CHAIN_ID,
    network: `eip155:${CHAIN_ID}` as const,
    networkV1: "base-sepolia",
    token,
    deployToken,
    tokenName: TOKEN.name,
    tokenVersion: TOKEN.version,
    /** Pays the gas of settlements, like a facilitator. */
    gasWallet: walletOf(mnemonicToAccount(MNEMONIC, { addressIndex: 1 })),
    /** Creates an account with a balance of `units` atomic units of the token. */
    async newPayer(units: bigint) {
      const account = privateKeyToAccount(generatePrivateKey());
      if (units > 0n) await write("mint", [account.address, units]);
      return account;
    },
    mint: (to: Hex, units: bigint) => write("mint", [to, units]),
    balanceOf: async (owner: Hex, at: Hex = token) =>
      (await deployer.readContract({ address: at, abi, functionName: "balanceOf", args: [owner] })) as bigint,
    /** Number of token transfers to `to`, without mints. */
    transfersTo: async (to: Hex) => {
      const logs = await deployer.getContractEvents({
        address: token,
        abi,
        eventName: "Transfer",
        args: { to },
        fromBlock: 0n,
      });
      return logs.filter(({ args }) => (args as unknown as { from: Hex }).from !== `0x${"0".repeat(40)}`).length;
    },
    /** Calls the token directly, for example to use or cancel an authorization. */
    submit: (functionName: string, args: readonly unknown[]) => write(functionName, args),
    /** Makes several token calls in one transaction and returns its hash. */
    async submitTogether(calls: readonly { readonly functionName: string; readonly args: readonly unknown[] }[]) {
      const address = await deploy(contracts.Batch, []);
      const encoded = calls.map((call) => encodeFunctionData({ abi, ...call }));
      const args = [token, encoded];
      const hash = await deployer.writeContract({ address, abi: contracts.Batch.abi, functionName: "run", args });
      return (await deployer.waitForTransactionReceipt({ hash })).transactionHash;
    },
    /** Advances the block timestamp of the chain. */
    async advance(seconds: number) {
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
  const findContract = (name: string): Contract => {
    const contract = output.contracts?.["token.sol"]?.[name];
    if (contract === undefined) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
    return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
  };
  return { Eip3009Token: findContract("Eip3009Token"), Batch: findContract("Batch") };
}
