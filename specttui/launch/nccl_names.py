"""NCCL's variables by how NCCL reads them. From NVIDIA's user guide and NCCL's source at 2.30."""

from __future__ import annotations

#: Path types, near to far, and what P2P up to that distance means.
LEVEL_WORDS = {
    "LOC": "never between GPUs",
    "NVL": "over NVLink",
    "NVB": "over NVLink through another GPU",
    "C2C": "over a chip-to-chip link",
    "PIX": "on one PCIe switch",
    "PXB": "across PCIe switches",
    "P2C": "through a CPU's chip-to-chip link",
    "PXN": "through another GPU to a network card",
    "PHB": "through the CPU, one NUMA node",
    "SYS": "between NUMA nodes",
}
#: What the old numbers 0 to 5 stand for; larger ones count as 5.
OLD_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")
LEVELS = frozenset({"NCCL_P2P_LEVEL", "NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL"})

PROTOCOLS = ("LL", "LL128", "Simple")
ALGORITHMS = ("Tree", "Ring", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT")
LISTS = {"NCCL_PROTO": PROTOCOLS, "NCCL_ALGO": ALGORITHMS}
COLLECTIVES = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")

CHANNEL_RANGE = ("NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS")
THREADS = frozenset({64, 128, 256, 512})
BYTES = frozenset({"NCCL_BUFFSIZE", "NCCL_LL_BUFFSIZE", "NCCL_LL128_BUFFSIZE", "NCCL_P2P_NET_CHUNKSIZE"})
SWITCHES = frozenset(
    {
        "NCCL_P2P_DISABLE", "NCCL_P2P_DIRECT_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE",
        "NCCL_NVB_DISABLE", "NCCL_PXN_DISABLE", "NCCL_CUMEM_HOST_ENABLE", "NCCL_CHECK_POINTERS",
        "NCCL_IGNORE_CPU_AFFINITY", "NCCL_GRAPH_REGISTER", "NCCL_LOCAL_REGISTER", "NCCL_DMABUF_ENABLE",
        "NCCL_COLLNET_ENABLE", "NCCL_GRAPH_MIXING_SUPPORT", "NCCL_NET_SHARED_BUFFERS",
        "NCCL_NET_SHARED_COMMS", "NCCL_SET_THREAD_NAME",
    }
)  # fmt: skip
INTEGERS = (
    SWITCHES
    | BYTES
    | frozenset(CHANNEL_RANGE)
    | {
        "NCCL_NTHREADS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_MIN_P2P_NCHANNELS",
        "NCCL_MAX_P2P_NCHANNELS", "NCCL_NCHANNELS_PER_NET_PEER", "NCCL_CUMEM_ENABLE", "NCCL_NVLS_ENABLE",
        "NCCL_MNNVL_ENABLE", "NCCL_CROSS_NIC", "NCCL_NET_GDR_READ", "NCCL_IB_GID_INDEX",
        "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT", "NCCL_IB_SL", "NCCL_IB_TC",
        "NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD", "NCCL_P2P_PXN_LEVEL", "NCCL_P2P_LL_THRESHOLD",
        "NCCL_WORK_FIFO_BYTES", "NCCL_NVLS_NCHANNELS", "NCCL_COMM_BLOCKING", "NCCL_SET_STACK_SIZE",
    }
)  # fmt: skip
#: Channels: NCCL has at most 64.
RANGES = {
    "NCCL_MIN_NCHANNELS": (1, 64),
    "NCCL_MAX_NCHANNELS": (1, 64),
    "NCCL_MIN_CTAS": (1, 64),
    "NCCL_MAX_CTAS": (1, 64),
    "NCCL_BUFFSIZE": (1024, 2**31),
}
#: Files that NCCL reads.
PATHS = ("NCCL_GRAPH_FILE", "NCCL_TOPO_FILE")
OTHERS = frozenset(
    {
        "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE", "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY",
        "NCCL_IB_HCA", "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN",
        "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_LAUNCH_MODE", "NCCL_CONF_FILE",
        "NCCL_COMM_ID", "NCCL_HOSTID", "NCCL_VERSION", "NCCL_CHECKS_DISABLE", "NCCL_NVLSTREE_MAX_CHUNKSIZE",
    }
)  # fmt: skip
ALL = tuple(sorted(LEVELS | set(LISTS) | INTEGERS | set(PATHS) | OTHERS))
