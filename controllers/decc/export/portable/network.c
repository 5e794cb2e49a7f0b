static void layer(const double *weights, const double *biases, int inputs, int outputs, const double *in, double *out)
{
	for (int j = 0; j < outputs; j++) {
		out[j] = biases[j];
		for (int i = 0; i < inputs; i++)
			out[j] += weights[j * inputs + i] * in[i];
	}
}

static void rectify(double *values, int count)
{
	for (int i = 0; i < count; i++)
		values[i] = values[i] > 0 ? values[i] : 0;
}

static double sigmoid(double value)
{
	return 1 / (1 + exp(-value));
}

double decc_policy(const double seen[DECC_FEATURES])
{
	double first[128], second[128];

	layer(weights_0, biases_0, DECC_FEATURES, 128, seen, first);
	rectify(first, 128);
	layer(weights_1, biases_1, 128, 64, first, second);
	rectify(second, 64);
	layer(weights_2, biases_2, 64, 32, second, first);
	rectify(first, 32);
	layer(weights_3, biases_3, 32, 96, first, second); /* the LSTM's gates: input, candidate, output */
	for (int i = 0; i < 32; i++)
		first[i] = sigmoid(second[64 + i]) * tanh(sigmoid(second[i]) * tanh(second[32 + i]));
	layer(weights_4, biases_4, 32, 16, first, second);
	rectify(second, 16);
	layer(weights_5, biases_5, 16, 1, second, first);
	return DECC_MOST_ACTION * tanh(first[0]);
}
