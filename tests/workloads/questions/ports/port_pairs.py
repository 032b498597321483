"""Pairs of ports as their frameworks name, shape and order the leaves; and each leaf of the port in the first's."""

from __future__ import annotations

from suite.workloads.questions.ports.layers import Leaf


def leaves(text: str) -> list[Leaf]:
    """Returns leaves from lines `name shape kind`; a star after the name marks a buffer."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, shape, kind = line.split()
        found.append(Leaf(name.rstrip("*"), tuple(map(int, shape.split("x"))), kind, trained=not name.endswith("*")))
    return found


def expressions(text: str) -> dict[str, str]:
    lines = (line.partition(" = ") for line in map(str.strip, text.splitlines()) if line)
    return {name: expression for name, _, expression in lines}


def blocks(text: str, *numbers: int) -> str:
    """Returns a block's lines once for each number."""
    return "\n".join(text.replace("#", str(number)) for number in numbers)


MLP = (  # square layers, by PyTorch and by Flax linen
    leaves("""
        fc1.weight 64x64 linear
        fc1.bias 64 linear
        fc2.weight 64x64 linear
        fc2.bias 64 linear
        fc3.weight 64x64 linear
        fc3.bias 64 linear
        out.weight 10x64 linear
        out.bias 10 linear
    """),
    leaves("""
        params.Dense_0.kernel 64x64 linear
        params.Dense_0.bias 64 linear
        params.Dense_1.kernel 64x64 linear
        params.Dense_1.bias 64 linear
        params.Dense_2.kernel 64x64 linear
        params.Dense_2.bias 64 linear
        params.Dense_3.kernel 64x10 linear
        params.Dense_3.bias 10 linear
    """),
    expressions("""
        params.Dense_0.kernel = fc1.weight.T
        params.Dense_0.bias = fc1.bias
        params.Dense_1.kernel = fc2.weight.T
        params.Dense_1.bias = fc2.bias
        params.Dense_2.kernel = fc3.weight.T
        params.Dense_2.bias = fc3.bias
        params.Dense_3.kernel = out.weight.T
        params.Dense_3.bias = out.bias
    """),
)


def batch_norm(module: str, size: int) -> str:
    return f"""
        {module}.weight {size} batch_norm
        {module}.bias {size} batch_norm
        {module}.running_mean* {size} batch_norm
        {module}.running_var* {size} batch_norm
    """


def statistics(module: str, size: int) -> str:
    return f"""
        batch_stats.{module}.mean* {size} batch_norm
        batch_stats.{module}.var* {size} batch_norm
    """


def scaled(module: str, size: int) -> str:
    return f"""
        params.{module}.scale {size} batch_norm
        params.{module}.bias {size} batch_norm
    """


def norms(port: str, first: str) -> str:
    return f"""
        params.{port}.scale = {first}.weight
        params.{port}.bias = {first}.bias
        batch_stats.{port}.mean = {first}.running_mean
        batch_stats.{port}.var = {first}.running_var
    """


RESNET = (  # torchvision's names, and those of Flax's own example, whose statistics are a collection apart
    leaves(
        "conv1.weight 16x3x7x7 conv"
        + batch_norm("bn1", 16)
        + "layer1.0.conv1.weight 16x16x3x3 conv"
        + batch_norm("layer1.0.bn1", 16)
        + "layer1.0.conv2.weight 16x16x3x3 conv"
        + batch_norm("layer1.0.bn2", 16)
        + "layer2.0.conv1.weight 32x16x3x3 conv"
        + batch_norm("layer2.0.bn1", 32)
        + "layer2.0.conv2.weight 32x32x3x3 conv"
        + batch_norm("layer2.0.bn2", 32)
        + "layer2.0.downsample.0.weight 32x16x1x1 conv"
        + batch_norm("layer2.0.downsample.1", 32)
        + "fc.weight 10x32 linear\nfc.bias 10 linear"
    ),
    leaves(
        "params.conv_init.kernel 7x7x3x16 conv"
        + scaled("bn_init", 16)
        + "params.ResNetBlock_0.Conv_0.kernel 3x3x16x16 conv"
        + scaled("ResNetBlock_0.BatchNorm_0", 16)
        + "params.ResNetBlock_0.Conv_1.kernel 3x3x16x16 conv"
        + scaled("ResNetBlock_0.BatchNorm_1", 16)
        + "params.ResNetBlock_1.Conv_0.kernel 3x3x16x32 conv"
        + scaled("ResNetBlock_1.BatchNorm_0", 32)
        + "params.ResNetBlock_1.Conv_1.kernel 3x3x32x32 conv"
        + scaled("ResNetBlock_1.BatchNorm_1", 32)
        + "params.ResNetBlock_1.conv_proj.kernel 1x1x16x32 conv"
        + scaled("ResNetBlock_1.norm_proj", 32)
        + "params.Dense_0.kernel 32x10 linear\nparams.Dense_0.bias 10 linear\n"
        + statistics("bn_init", 16)
        + statistics("ResNetBlock_0.BatchNorm_0", 16)
        + statistics("ResNetBlock_0.BatchNorm_1", 16)
        + statistics("ResNetBlock_1.BatchNorm_0", 32)
        + statistics("ResNetBlock_1.BatchNorm_1", 32)
        + statistics("ResNetBlock_1.norm_proj", 32)
    ),
    expressions(
        """
        params.conv_init.kernel = conv1.weight.transpose(2, 3, 1, 0)
        params.ResNetBlock_0.Conv_0.kernel = layer1.0.conv1.weight.transpose(2, 3, 1, 0)
        params.ResNetBlock_0.Conv_1.kernel = layer1.0.conv2.weight.transpose(2, 3, 1, 0)
        params.ResNetBlock_1.Conv_0.kernel = layer2.0.conv1.weight.transpose(2, 3, 1, 0)
        params.ResNetBlock_1.Conv_1.kernel = layer2.0.conv2.weight.transpose(2, 3, 1, 0)
        params.ResNetBlock_1.conv_proj.kernel = layer2.0.downsample.0.weight.transpose(2, 3, 1, 0)
        params.Dense_0.kernel = fc.weight.T
        params.Dense_0.bias = fc.bias
        """
        + norms("bn_init", "bn1")
        + norms("ResNetBlock_0.BatchNorm_0", "layer1.0.bn1")
        + norms("ResNetBlock_0.BatchNorm_1", "layer1.0.bn2")
        + norms("ResNetBlock_1.BatchNorm_0", "layer2.0.bn1")
        + norms("ResNetBlock_1.BatchNorm_1", "layer2.0.bn2")
        + norms("ResNetBlock_1.norm_proj", "layer2.0.downsample.1")
    ),
)

VIT_BLOCK = (
    """
    encoder.layers.encoder_layer_#.ln_1.weight 64 layer_norm
    encoder.layers.encoder_layer_#.ln_1.bias 64 layer_norm
    encoder.layers.encoder_layer_#.self_attention.in_proj_weight 192x64 attention
    encoder.layers.encoder_layer_#.self_attention.in_proj_bias 192 attention
    encoder.layers.encoder_layer_#.self_attention.out_proj.weight 64x64 linear
    encoder.layers.encoder_layer_#.self_attention.out_proj.bias 64 linear
    encoder.layers.encoder_layer_#.ln_2.weight 64 layer_norm
    encoder.layers.encoder_layer_#.ln_2.bias 64 layer_norm
    encoder.layers.encoder_layer_#.mlp.0.weight 256x64 linear
    encoder.layers.encoder_layer_#.mlp.0.bias 256 linear
    encoder.layers.encoder_layer_#.mlp.3.weight 64x256 linear
    encoder.layers.encoder_layer_#.mlp.3.bias 64 linear
    """,
    """
    Transformer.encoderblock_#.LayerNorm_0.scale 64 layer_norm
    Transformer.encoderblock_#.LayerNorm_0.bias 64 layer_norm
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.query.kernel 64x4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.query.bias 4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.key.kernel 64x4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.key.bias 4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.value.kernel 64x4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.value.bias 4x16 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.out.kernel 4x16x64 linear
    Transformer.encoderblock_#.MultiHeadDotProductAttention_0.out.bias 64 linear
    Transformer.encoderblock_#.LayerNorm_1.scale 64 layer_norm
    Transformer.encoderblock_#.LayerNorm_1.bias 64 layer_norm
    Transformer.encoderblock_#.MlpBlock_0.Dense_0.kernel 64x256 linear
    Transformer.encoderblock_#.MlpBlock_0.Dense_0.bias 256 linear
    Transformer.encoderblock_#.MlpBlock_0.Dense_1.kernel 256x64 linear
    Transformer.encoderblock_#.MlpBlock_0.Dense_1.bias 64 linear
    """,
    """
    LayerNorm_0.scale = ln_1.weight
    LayerNorm_0.bias = ln_1.bias
    MultiHeadDotProductAttention_0.query.kernel = self_attention.in_proj_weight[0:64].T.reshape(64, 4, 16)
    MultiHeadDotProductAttention_0.query.bias = self_attention.in_proj_bias[0:64].reshape(4, 16)
    MultiHeadDotProductAttention_0.key.kernel = self_attention.in_proj_weight[64:128].T.reshape(64, 4, 16)
    MultiHeadDotProductAttention_0.key.bias = self_attention.in_proj_bias[64:128].reshape(4, 16)
    MultiHeadDotProductAttention_0.value.kernel = self_attention.in_proj_weight[128:192].T.reshape(64, 4, 16)
    MultiHeadDotProductAttention_0.value.bias = self_attention.in_proj_bias[128:192].reshape(4, 16)
    MultiHeadDotProductAttention_0.out.kernel = self_attention.out_proj.weight.T.reshape(4, 16, 64)
    MultiHeadDotProductAttention_0.out.bias = self_attention.out_proj.bias
    LayerNorm_1.scale = ln_2.weight
    LayerNorm_1.bias = ln_2.bias
    MlpBlock_0.Dense_0.kernel = mlp.0.weight.T
    MlpBlock_0.Dense_0.bias = mlp.0.bias
    MlpBlock_0.Dense_1.kernel = mlp.3.weight.T
    MlpBlock_0.Dense_1.bias = mlp.3.bias
    """.replace(" = ", " = encoder.layers.encoder_layer_#.")
    .replace("    L", "    Transformer.encoderblock_#.L")
    .replace("    M", "    Transformer.encoderblock_#.M"),
)
VIT = (  # torchvision's names, and those of the Flax original
    leaves(
        """
        class_token 1x1x64 other
        conv_proj.weight 64x3x8x8 conv
        conv_proj.bias 64 conv
        encoder.pos_embedding 1x17x64 other
        """
        + blocks(VIT_BLOCK[0], 0, 1)
        + """
        encoder.ln.weight 64 layer_norm
        encoder.ln.bias 64 layer_norm
        heads.head.weight 10x64 linear
        heads.head.bias 10 linear
        """
    ),
    leaves(
        """
        cls 1x1x64 other
        embedding.kernel 8x8x3x64 conv
        embedding.bias 64 conv
        Transformer.posembed_input.pos_embedding 1x17x64 other
        """
        + blocks(VIT_BLOCK[1], 0, 1)
        + """
        Transformer.encoder_norm.scale 64 layer_norm
        Transformer.encoder_norm.bias 64 layer_norm
        head.kernel 64x10 linear
        head.bias 10 linear
        """
    ),
    expressions(
        """
        cls = class_token
        embedding.kernel = conv_proj.weight.transpose(2, 3, 1, 0)
        embedding.bias = conv_proj.bias
        Transformer.posembed_input.pos_embedding = encoder.pos_embedding
        """
        + blocks(VIT_BLOCK[2], 0, 1)
        + """
        Transformer.encoder_norm.scale = encoder.ln.weight
        Transformer.encoder_norm.bias = encoder.ln.bias
        head.kernel = heads.head.weight.T
        head.bias = heads.head.bias
        """
    ),
)

GPT2 = (  # transformers, whose Conv1D has (inputs, outputs) and no kind of PyTorch's; and a port in Flax nnx
    leaves(
        "transformer.wte.weight 99x64 embedding\ntransformer.wpe.weight 32x64 embedding"
        + blocks(
            """
            transformer.h.#.ln_1.weight 64 layer_norm
            transformer.h.#.ln_1.bias 64 layer_norm
            transformer.h.#.attn.c_attn.weight 64x192 other
            transformer.h.#.attn.c_attn.bias 192 other
            transformer.h.#.attn.c_proj.weight 64x64 other
            transformer.h.#.attn.c_proj.bias 64 other
            transformer.h.#.ln_2.weight 64 layer_norm
            transformer.h.#.ln_2.bias 64 layer_norm
            transformer.h.#.mlp.c_fc.weight 64x256 other
            transformer.h.#.mlp.c_fc.bias 256 other
            transformer.h.#.mlp.c_proj.weight 256x64 other
            transformer.h.#.mlp.c_proj.bias 64 other
            """,
            0,
            1,
        )
        + "transformer.ln_f.weight 64 layer_norm\ntransformer.ln_f.bias 64 layer_norm"
    ),
    leaves(
        "tok_emb.embedding 99x64 embedding\npos_emb.embedding 32x64 embedding"
        + blocks(
            """
            blocks.#.ln1.scale 64 layer_norm
            blocks.#.ln1.bias 64 layer_norm
            blocks.#.attn.q_proj.kernel 64x64 linear
            blocks.#.attn.q_proj.bias 64 linear
            blocks.#.attn.k_proj.kernel 64x64 linear
            blocks.#.attn.k_proj.bias 64 linear
            blocks.#.attn.v_proj.kernel 64x64 linear
            blocks.#.attn.v_proj.bias 64 linear
            blocks.#.attn.o_proj.kernel 64x64 linear
            blocks.#.attn.o_proj.bias 64 linear
            blocks.#.ln2.scale 64 layer_norm
            blocks.#.ln2.bias 64 layer_norm
            blocks.#.mlp.up.kernel 64x256 linear
            blocks.#.mlp.up.bias 256 linear
            blocks.#.mlp.down.kernel 256x64 linear
            blocks.#.mlp.down.bias 64 linear
            """,
            0,
            1,
        )
        + "ln_f.scale 64 layer_norm\nln_f.bias 64 layer_norm\nlm_head.kernel 64x99 linear"
    ),
    expressions(
        "tok_emb.embedding = transformer.wte.weight\npos_emb.embedding = transformer.wpe.weight"
        + blocks(
            """
            blocks.#.ln1.scale = transformer.h.#.ln_1.weight
            blocks.#.ln1.bias = transformer.h.#.ln_1.bias
            blocks.#.attn.q_proj.kernel = transformer.h.#.attn.c_attn.weight[:, 0:64]
            blocks.#.attn.q_proj.bias = transformer.h.#.attn.c_attn.bias[0:64]
            blocks.#.attn.k_proj.kernel = transformer.h.#.attn.c_attn.weight[:, 64:128]
            blocks.#.attn.k_proj.bias = transformer.h.#.attn.c_attn.bias[64:128]
            blocks.#.attn.v_proj.kernel = transformer.h.#.attn.c_attn.weight[:, 128:192]
            blocks.#.attn.v_proj.bias = transformer.h.#.attn.c_attn.bias[128:192]
            blocks.#.attn.o_proj.kernel = transformer.h.#.attn.c_proj.weight
            blocks.#.attn.o_proj.bias = transformer.h.#.attn.c_proj.bias
            blocks.#.ln2.scale = transformer.h.#.ln_2.weight
            blocks.#.ln2.bias = transformer.h.#.ln_2.bias
            blocks.#.mlp.up.kernel = transformer.h.#.mlp.c_fc.weight
            blocks.#.mlp.up.bias = transformer.h.#.mlp.c_fc.bias
            blocks.#.mlp.down.kernel = transformer.h.#.mlp.c_proj.weight
            blocks.#.mlp.down.bias = transformer.h.#.mlp.c_proj.bias
            """,
            0,
            1,
        )
        + "ln_f.scale = transformer.ln_f.weight\nln_f.bias = transformer.ln_f.bias\n"
        + "lm_head.kernel = transformer.wte.weight.T"
    ),
)

BERT = (  # transformers, and a compact port whose queries, keys and values are one
    leaves(
        """
        embeddings.word_embeddings.weight 99x64 embedding
        embeddings.position_embeddings.weight 32x64 embedding
        embeddings.token_type_embeddings.weight 2x64 embedding
        embeddings.LayerNorm.weight 64 layer_norm
        embeddings.LayerNorm.bias 64 layer_norm
        """
        + blocks(
            """
            encoder.layer.#.attention.self.query.weight 64x64 linear
            encoder.layer.#.attention.self.query.bias 64 linear
            encoder.layer.#.attention.self.key.weight 64x64 linear
            encoder.layer.#.attention.self.key.bias 64 linear
            encoder.layer.#.attention.self.value.weight 64x64 linear
            encoder.layer.#.attention.self.value.bias 64 linear
            encoder.layer.#.attention.output.dense.weight 64x64 linear
            encoder.layer.#.attention.output.dense.bias 64 linear
            encoder.layer.#.attention.output.LayerNorm.weight 64 layer_norm
            encoder.layer.#.attention.output.LayerNorm.bias 64 layer_norm
            encoder.layer.#.intermediate.dense.weight 128x64 linear
            encoder.layer.#.intermediate.dense.bias 128 linear
            encoder.layer.#.output.dense.weight 64x128 linear
            encoder.layer.#.output.dense.bias 64 linear
            encoder.layer.#.output.LayerNorm.weight 64 layer_norm
            encoder.layer.#.output.LayerNorm.bias 64 layer_norm
            """,
            0,
            1,
        )
        + """
        pooler.dense.weight 64x64 linear
        pooler.dense.bias 64 linear
        """
    ),
    leaves(
        """
        word_emb.embedding 99x64 embedding
        pos_emb.embedding 32x64 embedding
        type_emb.embedding 2x64 embedding
        emb_norm.scale 64 layer_norm
        emb_norm.bias 64 layer_norm
        """
        + blocks(
            """
            layers_#.attn.qkv.kernel 64x3x4x16 linear
            layers_#.attn.qkv.bias 3x4x16 linear
            layers_#.attn.out.kernel 4x16x64 linear
            layers_#.attn.out.bias 64 linear
            layers_#.norm1.scale 64 layer_norm
            layers_#.norm1.bias 64 layer_norm
            layers_#.mlp.fc1.kernel 64x128 linear
            layers_#.mlp.fc1.bias 128 linear
            layers_#.mlp.fc2.kernel 128x64 linear
            layers_#.mlp.fc2.bias 64 linear
            layers_#.norm2.scale 64 layer_norm
            layers_#.norm2.bias 64 layer_norm
            """,
            0,
            1,
        )
        + """
        pooler.kernel 64x64 linear
        pooler.bias 64 linear
        """
    ),
    expressions(
        """
        word_emb.embedding = embeddings.word_embeddings.weight
        pos_emb.embedding = embeddings.position_embeddings.weight
        type_emb.embedding = embeddings.token_type_embeddings.weight
        emb_norm.scale = embeddings.LayerNorm.weight
        emb_norm.bias = embeddings.LayerNorm.bias
        """
        + blocks(
            """
            layers_#.attn.qkv.kernel = concatenate({0}query.weight, {0}key.weight, {0}value.weight){1}
            layers_#.attn.qkv.bias = concatenate({0}query.bias, {0}key.bias, {0}value.bias).reshape(3, 4, 16)
            layers_#.attn.out.kernel = encoder.layer.#.attention.output.dense.weight.T.reshape(4, 16, 64)
            layers_#.attn.out.bias = encoder.layer.#.attention.output.dense.bias
            layers_#.norm1.scale = encoder.layer.#.attention.output.LayerNorm.weight
            layers_#.norm1.bias = encoder.layer.#.attention.output.LayerNorm.bias
            layers_#.mlp.fc1.kernel = encoder.layer.#.intermediate.dense.weight.T
            layers_#.mlp.fc1.bias = encoder.layer.#.intermediate.dense.bias
            layers_#.mlp.fc2.kernel = encoder.layer.#.output.dense.weight.T
            layers_#.mlp.fc2.bias = encoder.layer.#.output.dense.bias
            layers_#.norm2.scale = encoder.layer.#.output.LayerNorm.weight
            layers_#.norm2.bias = encoder.layer.#.output.LayerNorm.bias
            """.replace("{0}", "encoder.layer.#.attention.self.").replace("{1}", ".T.reshape(64, 3, 4, 16)"),
            0,
            1,
        )
        + """
        pooler.kernel = pooler.dense.weight.T
        pooler.bias = pooler.dense.bias
        """
    ),
)

TORCH_LSTM = leaves("""
    embed.weight 50x5 embedding
    lstm.weight_ih_l0 32x5 lstm
    lstm.weight_hh_l0 32x8 lstm
    lstm.bias_ih_l0 32 lstm
    lstm.bias_hh_l0 32 lstm
    lstm.weight_ih_l1 32x8 lstm
    lstm.weight_hh_l1 32x8 lstm
    lstm.bias_ih_l1 32 lstm
    lstm.bias_hh_l1 32 lstm
    fc.weight 2x8 linear
    fc.bias 2 linear
""")
LINEN_LSTM = leaves(
    "Embed_0.embedding 50x5 embedding"
    + "".join(
        f"""
        OptimizedLSTMCell_{layer}.{name} {shape} linear"""
        for layer, size in ((0, 5), (1, 8))
        for name, shape in (
            *((f"h{gate}.{what}", shape) for gate in "fgio" for what, shape in (("bias", "8"), ("kernel", "8x8"))),
            *((f"i{gate}.kernel", f"{size}x8") for gate in "fgio"),
        )
    )
    + "\nDense_0.kernel 8x2 linear\nDense_0.bias 2 linear"
)
GATES = {"i": "[0:8]", "f": "[8:16]", "g": "[16:24]", "o": "[24:32]"}
ENDS = "Embed_0.embedding = embed.weight\nDense_0.kernel = fc.weight.T\nDense_0.bias = fc.bias\n"
LSTM = (
    TORCH_LSTM,
    LINEN_LSTM,
    expressions(
        ENDS
        + "\n".join(
            f"OptimizedLSTMCell_{n}.i{gate}.kernel = lstm.weight_ih_l{n}{rows}.T\n"
            f"OptimizedLSTMCell_{n}.h{gate}.kernel = lstm.weight_hh_l{n}{rows}.T\n"
            f"OptimizedLSTMCell_{n}.h{gate}.bias = lstm.bias_ih_l{n}{rows} + lstm.bias_hh_l{n}{rows}"
            for n in (0, 1)
            for gate, rows in GATES.items()
        )
    ),
)
NNX_LSTM = (  # OptimizedLSTMCell of nnx, as nnx sorts it
    TORCH_LSTM,
    leaves(
        "embed.embedding 50x5 embedding"
        + blocks(
            """
            cells.#.dense_h.bias 32 linear
            cells.#.dense_h.kernel 8x32 linear
            cells.#.dense_i.kernel 5x32 linear
            """,
            0,
        )
        + blocks(
            """
            cells.#.dense_h.bias 32 linear
            cells.#.dense_h.kernel 8x32 linear
            cells.#.dense_i.kernel 8x32 linear
            """,
            1,
        )
        + "head.kernel 8x2 linear\nhead.bias 2 linear"
    ),
    expressions(
        "embed.embedding = embed.weight\nhead.kernel = fc.weight.T\nhead.bias = fc.bias"
        + blocks(
            """
            cells.#.dense_h.bias = lstm.bias_ih_l# + lstm.bias_hh_l#
            cells.#.dense_h.kernel = lstm.weight_hh_l#.T
            cells.#.dense_i.kernel = lstm.weight_ih_l#.T
            """,
            0,
            1,
        )
    ),
)
EQUINOX_LSTM = (
    TORCH_LSTM,
    leaves("""
        embed.weight 50x5 embedding
        cells.0.weight_ih 32x5 lstm
        cells.0.weight_hh 32x8 lstm
        cells.0.bias 32 lstm
        cells.1.weight_ih 32x8 lstm
        cells.1.weight_hh 32x8 lstm
        cells.1.bias 32 lstm
        out.weight 2x8 linear
        out.bias 2 linear
    """),
    expressions(
        "embed.weight = embed.weight\nout.weight = fc.weight\nout.bias = fc.bias"
        + blocks(
            """
            cells.#.weight_ih = lstm.weight_ih_l#
            cells.#.weight_hh = lstm.weight_hh_l#
            cells.#.bias = lstm.bias_ih_l# + lstm.bias_hh_l#
            """,
            0,
            1,
        )
    ),
)
FROM_FLAX_LSTM = (  # the first model has one bias where the port has two
    NNX_LSTM[1],
    TORCH_LSTM,
    expressions(
        "embed.weight = embed.embedding\nfc.weight = head.kernel.T\nfc.bias = head.bias"
        + blocks(
            """
            lstm.weight_ih_l# = cells.#.dense_i.kernel.T
            lstm.weight_hh_l# = cells.#.dense_h.kernel.T
            lstm.bias_ih_l# = 0 * cells.#.dense_h.bias
            lstm.bias_hh_l# = cells.#.dense_h.bias
            """,
            0,
            1,
        )
    ),
)
GRU = (  # its new gate keeps two biases apart
    leaves("""
        rnn.weight_ih_l0 24x5 gru
        rnn.weight_hh_l0 24x8 gru
        rnn.bias_ih_l0 24 gru
        rnn.bias_hh_l0 24 gru
    """),
    leaves("""
        GRUCell_0.ir.kernel 5x8 linear
        GRUCell_0.ir.bias 8 linear
        GRUCell_0.iz.kernel 5x8 linear
        GRUCell_0.iz.bias 8 linear
        GRUCell_0.in.kernel 5x8 linear
        GRUCell_0.in.bias 8 linear
        GRUCell_0.hr.kernel 8x8 linear
        GRUCell_0.hz.kernel 8x8 linear
        GRUCell_0.hn.kernel 8x8 linear
        GRUCell_0.hn.bias 8 linear
    """),
    expressions("""
        GRUCell_0.ir.kernel = rnn.weight_ih_l0[0:8].T
        GRUCell_0.ir.bias = rnn.bias_ih_l0[0:8] + rnn.bias_hh_l0[0:8]
        GRUCell_0.iz.kernel = rnn.weight_ih_l0[8:16].T
        GRUCell_0.iz.bias = rnn.bias_ih_l0[8:16] + rnn.bias_hh_l0[8:16]
        GRUCell_0.in.kernel = rnn.weight_ih_l0[16:24].T
        GRUCell_0.in.bias = rnn.bias_ih_l0[16:24]
        GRUCell_0.hr.kernel = rnn.weight_hh_l0[0:8].T
        GRUCell_0.hz.kernel = rnn.weight_hh_l0[8:16].T
        GRUCell_0.hn.kernel = rnn.weight_hh_l0[16:24].T
        GRUCell_0.hn.bias = rnn.bias_hh_l0[16:24]
    """),
)

EQUINOX_CNN = (  # Sequential numbers its layers with those that have no weights; Equinox has (O, 1, 1) for a bias
    leaves("""
        features.0.weight 8x3x3x3 conv
        features.0.bias 8 conv
        features.3.weight 8x1x3x3 conv
        features.3.bias 8 conv
        features.5.weight 16x8x1x1 conv
        features.5.bias 16 conv
        classifier.1.weight 16x16 linear
        classifier.1.bias 16 linear
        classifier.3.weight 10x16 linear
        classifier.3.bias 10 linear
    """),
    leaves("""
        convs.0.weight 8x3x3x3 conv
        convs.0.bias 8x1x1 conv
        convs.1.weight 8x1x3x3 conv
        convs.1.bias 8x1x1 conv
        convs.2.weight 16x8x1x1 conv
        convs.2.bias 16x1x1 conv
        linears.0.weight 16x16 linear
        linears.0.bias 16 linear
        linears.1.weight 10x16 linear
        linears.1.bias 10 linear
    """),
    expressions("""
        convs.0.weight = features.0.weight
        convs.0.bias = features.0.bias.reshape(8, 1, 1)
        convs.1.weight = features.3.weight
        convs.1.bias = features.3.bias.reshape(8, 1, 1)
        convs.2.weight = features.5.weight
        convs.2.bias = features.5.bias.reshape(16, 1, 1)
        linears.0.weight = classifier.1.weight
        linears.0.bias = classifier.1.bias
        linears.1.weight = classifier.3.weight
        linears.1.bias = classifier.3.bias
    """),
)

UNET = (  # Flax's ConvTranspose doesn't flip its kernel, PyTorch's does; with transpose_kernel both do
    leaves("""
        down1.conv.weight 16x3x3x3 conv
        down1.conv.bias 16 conv
        down2.conv.weight 32x16x3x3 conv
        down2.conv.bias 32 conv
        up2.up.weight 32x16x2x2 conv_transpose
        up2.up.bias 16 conv_transpose
        up2.conv.weight 16x32x3x3 conv
        up2.conv.bias 16 conv
        up1.up.weight 16x8x2x2 conv_transpose
        up1.up.bias 8 conv_transpose
        final.weight 1x8x1x1 conv
        final.bias 1 conv
    """),
    leaves("""
        Down_0.Conv_0.kernel 3x3x3x16 conv
        Down_0.Conv_0.bias 16 conv
        Down_1.Conv_0.kernel 3x3x16x32 conv
        Down_1.Conv_0.bias 32 conv
        Up_0.ConvTranspose_0.kernel 2x2x32x16 conv_transpose
        Up_0.ConvTranspose_0.bias 16 conv_transpose
        Up_0.Conv_0.kernel 3x3x32x16 conv
        Up_0.Conv_0.bias 16 conv
        Up_1.ConvTranspose_0.kernel 2x2x8x16 conv_transpose
        Up_1.ConvTranspose_0.bias 8 conv_transpose
        Conv_0.kernel 1x1x8x1 conv
        Conv_0.bias 1 conv
    """),
    expressions("""
        Down_0.Conv_0.kernel = down1.conv.weight.transpose(2, 3, 1, 0)
        Down_0.Conv_0.bias = down1.conv.bias
        Down_1.Conv_0.kernel = down2.conv.weight.transpose(2, 3, 1, 0)
        Down_1.Conv_0.bias = down2.conv.bias
        Up_0.ConvTranspose_0.kernel = up2.up.weight[:, :, ::-1, ::-1].transpose(2, 3, 0, 1)
        Up_0.ConvTranspose_0.bias = up2.up.bias
        Up_0.Conv_0.kernel = up2.conv.weight.transpose(2, 3, 1, 0)
        Up_0.Conv_0.bias = up2.conv.bias
        Up_1.ConvTranspose_0.kernel = up1.up.weight.transpose(2, 3, 1, 0)
        Up_1.ConvTranspose_0.bias = up1.up.bias
        Conv_0.kernel = final.weight.transpose(2, 3, 1, 0)
        Conv_0.bias = final.bias
    """),
)

LLAMA = (  # keys and values have fewer heads; the head is the embedding; the port keeps its arrays in plain dicts
    leaves(
        "model.embed_tokens.weight 99x64 embedding"
        + blocks(
            """
            model.layers.#.self_attn.q_proj.weight 64x64 linear
            model.layers.#.self_attn.k_proj.weight 32x64 linear
            model.layers.#.self_attn.v_proj.weight 32x64 linear
            model.layers.#.self_attn.o_proj.weight 64x64 linear
            model.layers.#.mlp.gate_proj.weight 128x64 linear
            model.layers.#.mlp.up_proj.weight 128x64 linear
            model.layers.#.mlp.down_proj.weight 64x128 linear
            model.layers.#.input_layernorm.weight 64 other
            model.layers.#.post_attention_layernorm.weight 64 other
            """,
            0,
            1,
        )
        + "model.norm.weight 64 other"
    ),
    leaves(
        "embedder.embedding 99x64 embedding"
        + blocks(
            """
            blocks.#.input_layernorm.scale 64 other
            blocks.#.attn.qkv.kernel 64x128 linear
            blocks.#.attn.wo.kernel 4x16x64 linear
            blocks.#.post_attention_layernorm.scale 64 other
            blocks.#.mlp.up.kernel 64x128 linear
            blocks.#.mlp.gate.kernel 64x128 linear
            blocks.#.mlp.down.kernel 128x64 linear
            """,
            0,
            1,
        )
        + "norm.scale 64 other\nlm_head.kernel 64x99 linear"
    ),
    expressions(
        "embedder.embedding = model.embed_tokens.weight"
        + blocks(
            """
            blocks.#.input_layernorm.scale = model.layers.#.input_layernorm.weight
            blocks.#.attn.qkv.kernel = concatenate({0}.q_proj.weight, {0}.k_proj.weight, {0}.v_proj.weight).T
            blocks.#.attn.wo.kernel = model.layers.#.self_attn.o_proj.weight.T.reshape(4, 16, 64)
            blocks.#.post_attention_layernorm.scale = model.layers.#.post_attention_layernorm.weight
            blocks.#.mlp.up.kernel = model.layers.#.mlp.up_proj.weight.T
            blocks.#.mlp.gate.kernel = model.layers.#.mlp.gate_proj.weight.T
            blocks.#.mlp.down.kernel = model.layers.#.mlp.down_proj.weight.T
            """.replace("{0}", "model.layers.#.self_attn"),
            0,
            1,
        )
        + "norm.scale = model.norm.weight\nlm_head.kernel = model.embed_tokens.weight.T"
    ),
)

MIXED = (  # the port defines its layers in another order, as nnx does, which sorts by name
    leaves("""
        query.weight 64x64 linear
        query.bias 64 linear
        key.weight 64x64 linear
        key.bias 64 linear
        value.weight 64x64 linear
        value.bias 64 linear
        out.weight 64x64 linear
        out.bias 64 linear
        gate.weight 64x64 linear
        gate.bias 64 linear
        norm1.weight 64 layer_norm
        norm2.weight 64 layer_norm
    """),
    leaves("""
        gate.kernel 64x64 linear
        gate.bias 64 linear
        k.kernel 64x64 linear
        k.bias 64 linear
        norm1.scale 64 layer_norm
        norm2.scale 64 layer_norm
        out.kernel 64x64 linear
        out.bias 64 linear
        q.kernel 64x64 linear
        q.bias 64 linear
        v.kernel 64x64 linear
        v.bias 64 linear
    """),
    expressions("""
        gate.kernel = gate.weight.T
        gate.bias = gate.bias
        k.kernel = key.weight.T
        k.bias = key.bias
        norm1.scale = norm1.weight
        norm2.scale = norm2.weight
        out.kernel = out.weight.T
        out.bias = out.bias
        q.kernel = query.weight.T
        q.bias = query.bias
        v.kernel = value.weight.T
        v.bias = value.bias
    """),
)

PAIRS = {
    "mlp": MLP,
    "resnet": RESNET,
    "vit": VIT,
    "gpt2": GPT2,
    "bert": BERT,
    "lstm": LSTM,
    "nnx_lstm": NNX_LSTM,
    "equinox_lstm": EQUINOX_LSTM,
    "from_flax_lstm": FROM_FLAX_LSTM,
    "gru": GRU,
    "equinox_cnn": EQUINOX_CNN,
    "unet": UNET,
    "llama": LLAMA,
    "mixed": MIXED,
}
